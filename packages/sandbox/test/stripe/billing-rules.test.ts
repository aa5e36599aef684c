import type Stripe from 'stripe'
import { expect, it } from 'vitest'
import {
  catchStripeError,
  seconds,
  seedCustomer,
  seedPrices,
  startStripeSandbox,
} from './support.ts'

it('the Stripe sandbox sends invoices instead of charging a card with collection_method send_invoice, and makes the subscription past due if they are not paid in time', async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  const customer = await stripe.customers.create({ email: 'b2b@example.com' })
  const { monthly } = await seedPrices(stripe)
  const subscription = await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: monthly.id }],
    collection_method: 'send_invoice',
    days_until_due: 14,
  })
  expect(subscription.status).toBe('active')
  await sandbox.clock.advance({ hours: 1 })
  const sent = await stripe.invoices.retrieve(String(subscription.latest_invoice))
  expect([sent.status, sent.due_date]).toEqual(['open', seconds('2026-02-14T10:00:00Z')])
  expect(sandbox.stripe.charges()).toEqual([])
  await sandbox.clock.advance({ days: 14 })
  expect((await stripe.subscriptions.retrieve(subscription.id)).status).toBe('past_due')
  expect(sandbox.stripe.events('invoice.overdue')).toHaveLength(1)
  const paid = await stripe.invoices.pay(sent.id ?? '', { paid_out_of_band: true })
  expect([paid.status, paid.amount_paid, paid.amount_remaining]).toEqual(['paid', 1000, 0])
  expect((await stripe.subscriptions.retrieve(subscription.id)).status).toBe('active')
})

it('the Stripe sandbox bills items with different intervals in their own periods', async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  const { customer } = await seedCustomer(stripe)
  const { monthly, yearly } = await seedPrices(stripe)
  const subscription = await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: monthly.id }, { price: yearly.id }],
  })
  await sandbox.clock.advance({ years: 1, hours: 1 })
  const totals = (await stripe.invoices.list({ customer: customer.id, limit: 100 })).data.map(
    (invoice) => invoice.total,
  )
  expect(totals).toEqual([11_000, ...Array.from({ length: 11 }, () => 1000), 11_000])
  const now = await stripe.subscriptions.retrieve(subscription.id)
  expect(now.items.data.map((item) => item.current_period_end)).toEqual([
    seconds('2027-02-28T10:00:00Z'),
    seconds('2028-01-31T10:00:00Z'),
  ])
  const classic = await catchStripeError(
    stripe.subscriptions.create({
      customer: customer.id,
      items: [{ price: monthly.id }, { price: yearly.id }],
      billing_mode: { type: 'classic' },
    }),
  )
  expect(classic.statusCode).toBe(400)
})

it('the Stripe sandbox credits unused time when a subscription is canceled with proration, and returns credit when an invoice is voided', async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  const { customer } = await seedCustomer(stripe)
  const { monthly } = await seedPrices(stripe)
  const subscription = await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: monthly.id }],
  })
  await sandbox.clock.advance({ days: 21 })
  await stripe.subscriptions.cancel(subscription.id, { prorate: true, invoice_now: true })
  expect(await stripe.customers.retrieve(customer.id)).toMatchObject({ balance: -250 })
  const invoice = await stripe.invoices.create({ customer: customer.id })
  await stripe.invoiceItems.create({
    customer: customer.id,
    invoice: invoice.id ?? '',
    amount: 2000,
    currency: 'usd',
  })
  const open = await stripe.invoices.finalizeInvoice(invoice.id ?? '')
  expect([open.total, open.amount_due, open.starting_balance, open.ending_balance]).toEqual([
    2000, 1750, -250, 0,
  ])
  await stripe.invoices.voidInvoice(invoice.id ?? '')
  expect(await stripe.customers.retrieve(customer.id)).toMatchObject({ balance: -250 })
  const types = (await stripe.customers.listBalanceTransactions(customer.id)).data.map((entry) => [
    entry.type,
    entry.amount,
  ])
  expect(types).toEqual([
    ['unapplied_from_invoice', -250],
    ['applied_to_invoice', 250],
    ['applied_to_invoice', -250],
  ])
})

it('the Stripe sandbox carries an amount below the minimum charge over to the next invoice', async () => {
  const { stripe } = await startStripeSandbox()
  const { customer } = await seedCustomer(stripe)
  const charge = async (amount: number) => {
    const invoice = await stripe.invoices.create({ customer: customer.id })
    await stripe.invoiceItems.create({
      customer: customer.id,
      invoice: invoice.id ?? '',
      amount,
      currency: 'usd',
    })
    return stripe.invoices.pay(invoice.id ?? '')
  }
  expect(await charge(30)).toMatchObject({
    status: 'paid',
    amount_due: 0,
    amount_paid: 0,
    ending_balance: 30,
  })
  expect(await charge(500)).toMatchObject({
    status: 'paid',
    amount_due: 530,
    amount_paid: 530,
    ending_balance: 0,
  })
})

it('the Stripe sandbox retries a failed one-off invoice only with auto_advance', async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  const { customer } = await seedCustomer(stripe, 'pm_card_chargeCustomerFail')
  const attempts: number[] = []
  for (const auto_advance of [true, false]) {
    const invoice = await stripe.invoices.create({ customer: customer.id, auto_advance: false })
    await stripe.invoiceItems.create({
      customer: customer.id,
      invoice: invoice.id ?? '',
      amount: 900,
      currency: 'usd',
    })
    await stripe.invoices.finalizeInvoice(invoice.id ?? '', { auto_advance })
    const error = await catchStripeError(stripe.invoices.pay(invoice.id ?? ''))
    expect(error).toMatchObject({ statusCode: 402, code: 'card_declined' })
    expect((error.payment_intent as Stripe.PaymentIntent).status).toBe('requires_payment_method')
    await sandbox.clock.advance({ months: 1 })
    attempts.push((await stripe.invoices.retrieve(invoice.id ?? '')).attempt_count)
  }
  expect(attempts).toEqual([4, 1])
})

it('the Stripe sandbox rejects paying an invoice without a payment method, with an error code and documentation URL', async () => {
  const { stripe } = await startStripeSandbox()
  const customer = await stripe.customers.create({ email: 'no-card@example.com' })
  const invoice = await stripe.invoices.create({ customer: customer.id, auto_advance: false })
  await stripe.invoiceItems.create({
    ...{ customer: customer.id, invoice: invoice.id ?? '', amount: 900, currency: 'usd' },
  })
  expect(await catchStripeError(stripe.invoices.pay(invoice.id ?? ''))).toMatchObject({
    ...{ statusCode: 400, code: 'missing', type: 'StripeInvalidRequestError' },
    doc_url: 'https://stripe.com/docs/error-codes/missing',
  })
})

it('the Stripe sandbox activates a default_incomplete subscription when its intent is confirmed', async () => {
  const { stripe } = await startStripeSandbox()
  const customer = await stripe.customers.create({})
  const { monthly } = await seedPrices(stripe)
  const subscription = await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: monthly.id }],
    payment_behavior: 'default_incomplete',
    payment_settings: { save_default_payment_method: 'on_subscription' },
    expand: ['latest_invoice.confirmation_secret', 'latest_invoice.payments'],
  })
  const invoice = subscription.latest_invoice as Stripe.Invoice
  const intent = String(invoice.payments?.data[0]?.payment.payment_intent)
  await stripe.paymentIntents.confirm(intent, { payment_method: 'pm_card_visa' })
  const active = await stripe.subscriptions.retrieve(subscription.id, {
    expand: ['default_payment_method'],
  })
  expect(active.status).toBe('active')
  expect(active.default_payment_method).toMatchObject({
    customer: customer.id,
    card: { last4: '4242' },
  })
})

it('the Stripe sandbox requires 3-D Secure authentication at the start of a trial if the card will need it later', async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  const { customer } = await seedCustomer(stripe, 'pm_card_authenticationRequiredOnSetup')
  const { monthly } = await seedPrices(stripe)
  const trial = await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: monthly.id }],
    trial_period_days: 7,
    expand: ['pending_setup_intent'],
  })
  const setup = trial.pending_setup_intent as Stripe.SetupIntent
  expect([trial.status, setup.status]).toEqual(['trialing', 'requires_action'])
  sandbox.stripe.completeAuthentication(setup.id)
  expect((await stripe.subscriptions.retrieve(trial.id)).pending_setup_intent).toBeNull()
  await sandbox.clock.advance({ days: 7, hours: 1 })
  expect((await stripe.subscriptions.retrieve(trial.id)).status).toBe('active')
})

it('the Stripe sandbox keeps a trial when the subscription changes to another billing interval, and bills the new interval after the trial', async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  const { customer } = await seedCustomer(stripe)
  const { monthly, yearly } = await seedPrices(stripe)
  const trial = await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: monthly.id }],
    trial_period_days: 7,
  })
  const id = trial.items.data[0]?.id ?? ''
  const swapped = await stripe.subscriptions.update(trial.id, { items: [{ id, price: yearly.id }] })
  expect(swapped).toMatchObject({ status: 'trialing', trial_end: trial.trial_end })
  expect(swapped.items.data[0]?.current_period_end).toBe(trial.trial_end)
  await sandbox.clock.advance({ days: 7, hours: 2 })
  const { data } = await stripe.invoices.list({ customer: customer.id })
  expect(data.map(({ total }) => total)).toEqual([yearly.unit_amount, 0])
})

it('the Stripe sandbox applies a coupon only to its own products, and rejects a coupon that is unknown or used up', async () => {
  const { stripe } = await startStripeSandbox()
  const { customer } = await seedCustomer(stripe)
  const { monthly } = await seedPrices(stripe)
  const { better } = await seedPrices(stripe)
  const coupon = await stripe.coupons.create({
    percent_off: 50,
    duration: 'forever',
    max_redemptions: 1,
    applies_to: { products: [String(monthly.product)] },
  })
  const subscription = await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: monthly.id }, { price: better.id }],
    discounts: [{ coupon: coupon.id }],
    expand: ['latest_invoice'],
  })
  expect((subscription.latest_invoice as Stripe.Invoice).total).toBe(500 + 2500)
  expect((await stripe.coupons.retrieve(coupon.id)).valid).toBe(false)
  const spent = await catchStripeError(
    stripe.subscriptions.update(subscription.id, { discounts: [{ coupon: coupon.id }] }),
  )
  expect(spent.code).toBe('coupon_expired')
  const own = await stripe.coupons.create({ percent_off: 10 })
  const code = await stripe.promotionCodes.create({
    promotion: { type: 'coupon', coupon: own.id },
    restrictions: { first_time_transaction: true },
  })
  const again = await catchStripeError(
    stripe.subscriptions.create({
      customer: customer.id,
      items: [{ price: monthly.id }],
      discounts: [{ promotion_code: code.id }],
    }),
  )
  expect(again.code).toBe('promotion_code_customer_not_first_time')
})

it('the Stripe sandbox starts a scheduled subscription on its date and ends it as its schedule says', async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  const { customer } = await seedCustomer(stripe)
  const { monthly } = await seedPrices(stripe)
  const schedule = await stripe.subscriptionSchedules.create({
    customer: customer.id,
    start_date: seconds('2026-02-10T00:00:00Z'),
    end_behavior: 'cancel',
    phases: [
      { items: [{ price: monthly.id }], duration: { interval: 'month', interval_count: 2 } },
    ],
  })
  expect([schedule.status, schedule.subscription]).toEqual(['not_started', null])
  await sandbox.clock.advanceTo(new Date('2026-02-11T00:00:00Z'))
  const active = await stripe.subscriptionSchedules.retrieve(schedule.id, {
    expand: ['subscription'],
  })
  expect(active).toMatchObject({ status: 'active', subscription: { status: 'active' } })
  await sandbox.clock.advanceTo(new Date('2026-04-11T00:00:00Z'))
  expect((await stripe.subscriptionSchedules.retrieve(schedule.id)).status).toBe('completed')
  const [ended] = sandbox.stripe.subscriptions(customer.id)
  expect(ended).toMatchObject({ status: 'canceled', ended_at: seconds('2026-04-10T00:00:00Z') })
  expect(sandbox.stripe.paidInvoices(customer.id)).toHaveLength(2)
})

it('the Stripe sandbox cancels a subscription on its cancel_at date within a period, and resets the billing cycle anchor on request', async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  const { customer } = await seedCustomer(stripe)
  const { monthly } = await seedPrices(stripe)
  const subscription = await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: monthly.id }],
  })
  await sandbox.clock.advance({ days: 7 })
  const reset = await stripe.subscriptions.update(subscription.id, {
    billing_cycle_anchor: { type: 'now' },
    expand: ['latest_invoice'],
  })
  expect((reset.latest_invoice as Stripe.Invoice).total).toBe(1000 - 750)
  expect(reset.items.data[0]?.current_period_end).toBe(seconds('2026-03-07T10:00:00Z'))
  await stripe.subscriptions.update(subscription.id, { cancel_at: seconds('2026-02-20T00:00:00Z') })
  await sandbox.clock.advance({ months: 1 })
  expect(await stripe.subscriptions.retrieve(subscription.id)).toMatchObject({
    status: 'canceled',
    ended_at: seconds('2026-02-20T00:00:00Z'),
  })
})

it('the Stripe sandbox renews a subscription of 29 February on the last day of February in other years', async () => {
  const { sandbox, stripe } = await startStripeSandbox({ now: new Date('2028-02-29T12:00:00Z') })
  const { customer } = await seedCustomer(stripe)
  const { yearly } = await seedPrices(stripe)
  const subscription = await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: yearly.id }],
  })
  const ends: string[] = []
  for (let year = 0; year < 5; year++) {
    const now = await stripe.subscriptions.retrieve(subscription.id)
    ends.push(
      new Date((now.items.data[0]?.current_period_end ?? 0) * 1000).toISOString().slice(0, 10),
    )
    await sandbox.clock.advance({ years: 1, days: 1 })
  }
  expect(ends).toEqual(['2029-02-28', '2030-02-28', '2031-02-28', '2032-02-29', '2033-02-28'])
})

it('the Stripe sandbox sends invoice.upcoming the configured number of days before a renewal', async () => {
  const { sandbox, stripe } = await startStripeSandbox({
    stripe: { upcomingInvoiceDays: 7, keepEventsForDays: 999 },
  })
  const { customer } = await seedCustomer(stripe)
  const { monthly } = await seedPrices(stripe)
  const subscription = await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: monthly.id, quantity: 2 }],
  })
  await sandbox.clock.advanceTo(new Date('2026-02-21T09:59:59Z'))
  expect(sandbox.stripe.events('invoice.upcoming')).toEqual([])
  await sandbox.clock.advance({ seconds: 1 })
  const [event] = sandbox.stripe.events('invoice.upcoming')
  expect(event?.data).toMatchObject({
    object: {
      total: 2000,
      billing_reason: 'subscription_cycle',
      next_payment_attempt: seconds('2026-02-28T11:00:00Z'),
    },
  })
  await sandbox.clock.advance({ months: 1, days: 10 })
  expect(sandbox.stripe.events('invoice.upcoming')).toHaveLength(2)
  await stripe.subscriptions.update(subscription.id, { cancel_at_period_end: true })
  await sandbox.clock.advance({ months: 2 })
  expect(sandbox.stripe.paidInvoices(customer.id)).toHaveLength(3)
})

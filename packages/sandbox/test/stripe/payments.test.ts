import Stripe from 'stripe'
import { expect, it } from 'vitest'
import {
  catchStripeError,
  seconds,
  seedCustomer,
  seedPrices,
  startStripeSandbox,
} from './support.ts'

it("the Stripe sandbox declines payments with Stripe's codes and keeps the failed payment intent", async () => {
  const { stripe } = await startStripeSandbox()
  const error = await catchStripeError(
    stripe.paymentIntents.create({
      amount: 1000,
      currency: 'usd',
      payment_method: 'pm_card_chargeDeclinedInsufficientFunds',
      confirm: true,
      automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
    }),
  )
  expect(error).toBeInstanceOf(Stripe.errors.StripeCardError)
  expect(error).toMatchObject({
    statusCode: 402,
    code: 'card_declined',
    decline_code: 'insufficient_funds',
  })
  const intent = error.payment_intent as Stripe.PaymentIntent
  expect((await stripe.paymentIntents.retrieve(intent.id)).status).toBe('requires_payment_method')
  expect((await stripe.events.list({ type: 'charge.failed' })).data).toHaveLength(1)
})

it('the Stripe sandbox rejects attaching a card that always declines, and one of another customer', async () => {
  const { stripe } = await startStripeSandbox()
  const { customer, method } = await seedCustomer(stripe)
  const other = await stripe.customers.create({})
  expect(
    (
      await catchStripeError(
        stripe.paymentMethods.attach('pm_card_chargeDeclined', { customer: other.id }),
      )
    ).code,
  ).toBe('card_declined')
  expect(
    (await catchStripeError(stripe.paymentMethods.attach(method.id, { customer: other.id })))
      .statusCode,
  ).toBe(400)
  await stripe.paymentMethods.detach(method.id)
  expect(
    (await catchStripeError(stripe.paymentMethods.attach(method.id, { customer: customer.id })))
      .statusCode,
  ).toBe(400)
})

it('the Stripe sandbox requires authentication for an off-session payment, and completes it through the page', async () => {
  const { stripe } = await startStripeSandbox()
  const { customer, method } = await seedCustomer(stripe, 'pm_card_authenticationRequired')
  const off = await catchStripeError(
    stripe.paymentIntents.create({
      amount: 1000,
      currency: 'usd',
      customer: customer.id,
      payment_method: method.id,
      confirm: true,
      automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
      off_session: true,
    }),
  )
  expect(off).toMatchObject({ statusCode: 402, code: 'authentication_required' })
  const intent = await stripe.paymentIntents.create({
    amount: 1000,
    currency: 'usd',
    customer: customer.id,
    payment_method: method.id,
    confirm: true,
    automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
    return_url: 'https://example.com/done?x=1',
  })
  expect(intent.status).toBe('requires_action')
  const url = intent.next_action?.redirect_to_url?.url ?? ''
  expect(await (await fetch(url)).text()).toContain('Complete')
  const done = await fetch(url, {
    method: 'POST',
    body: new URLSearchParams({ answer: 'complete' }),
    redirect: 'manual',
  })
  expect(done.headers.get('location')).toBe(
    `https://example.com/done?x=1&payment_intent=${intent.id}&payment_intent_client_secret=${intent.client_secret}&redirect_status=succeeded`,
  )
  expect((await stripe.paymentIntents.retrieve(intent.id)).status).toBe('succeeded')
})

it('the Stripe sandbox leaves a subscription incomplete until 3-D Secure succeeds', async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  const { customer } = await seedCustomer(stripe, 'pm_card_threeDSecure2Required')
  const { monthly } = await seedPrices(stripe)
  const subscription = await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: monthly.id }],
    expand: ['latest_invoice.confirmation_secret', 'latest_invoice.payments'],
  })
  expect(subscription.status).toBe('incomplete')
  const invoice = subscription.latest_invoice as Stripe.Invoice
  const intentId = String(invoice.payments?.data[0]?.payment.payment_intent)
  expect(invoice.confirmation_secret?.client_secret).toContain(intentId)
  expect(sandbox.stripe.events('invoice.payment_action_required')).toHaveLength(1)
  sandbox.stripe.completeAuthentication(intentId)
  expect((await stripe.subscriptions.retrieve(subscription.id)).status).toBe('active')
  expect((await stripe.invoices.retrieve(invoice.id ?? '')).status).toBe('paid')
})

it('the Stripe sandbox expires an incomplete subscription after 23 hours and voids its invoice', async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  const { customer } = await seedCustomer(stripe)
  const { monthly } = await seedPrices(stripe)
  const subscription = await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: monthly.id }],
    payment_behavior: 'default_incomplete',
  })
  expect(subscription.status).toBe('incomplete')
  await sandbox.clock.advance({ hours: 22 })
  expect((await stripe.subscriptions.retrieve(subscription.id)).status).toBe('incomplete')
  await sandbox.clock.advance({ hours: 2 })
  const expired = await stripe.subscriptions.retrieve(subscription.id, {
    expand: ['latest_invoice'],
  })
  expect(expired.status).toBe('incomplete_expired')
  expect(expired.latest_invoice).toMatchObject({ status: 'void' })
})

it('the Stripe sandbox creates no subscription with error_if_incomplete if the payment fails', async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  const { customer } = await seedCustomer(stripe, 'pm_card_chargeCustomerFail')
  const { monthly } = await seedPrices(stripe)
  const before = JSON.stringify(sandbox.snapshot().store.tables['stripe.customer'])
  const error = await catchStripeError(
    stripe.subscriptions.create({
      customer: customer.id,
      items: [{ price: monthly.id }],
      payment_behavior: 'error_if_incomplete',
    }),
  )
  expect(error).toMatchObject({ statusCode: 402, code: 'card_declined' })
  expect((await stripe.subscriptions.list({ status: 'all' })).data).toEqual([])
  expect((await stripe.invoices.list()).data).toEqual([])
  expect(JSON.stringify(sandbox.snapshot().store.tables['stripe.customer'])).toBe(before)
})

it('the Stripe sandbox makes a past due subscription active when the card is replaced', async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  const { customer } = await seedCustomer(stripe)
  const { monthly } = await seedPrices(stripe)
  const subscription = await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: monthly.id }],
  })
  const broken = await stripe.paymentMethods.attach('pm_card_chargeCustomerFail', {
    customer: customer.id,
  })
  await stripe.customers.update(customer.id, {
    invoice_settings: { default_payment_method: broken.id },
  })
  await sandbox.clock.advance({ months: 1, hours: 1 })
  expect((await stripe.subscriptions.retrieve(subscription.id)).status).toBe('past_due')
  expect(await stripe.customers.retrieve(customer.id)).toMatchObject({ delinquent: true })
  const good = await stripe.paymentMethods.attach('pm_card_visa', { customer: customer.id })
  await stripe.customers.update(customer.id, {
    invoice_settings: { default_payment_method: good.id },
  })
  await sandbox.clock.advance({ days: 3 })
  expect((await stripe.subscriptions.retrieve(subscription.id)).status).toBe('active')
  expect(await stripe.customers.retrieve(customer.id)).toMatchObject({ delinquent: false })
})

it('the Stripe sandbox cancels a subscription at the end of the period, unless it is resumed before then', async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  const { customer } = await seedCustomer(stripe)
  const { monthly } = await seedPrices(stripe)
  const subscription = await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: monthly.id }],
  })
  const ending = await stripe.subscriptions.update(subscription.id, { cancel_at_period_end: true })
  expect([ending.status, ending.cancel_at]).toEqual(['active', seconds('2026-02-28T10:00:00Z')])
  const resumed = await stripe.subscriptions.update(subscription.id, {
    cancel_at_period_end: false,
  })
  expect([resumed.cancel_at, resumed.canceled_at]).toEqual([null, null])
  await stripe.subscriptions.update(subscription.id, { cancel_at_period_end: true })
  await sandbox.clock.advance({ months: 2 })
  const ended = await stripe.subscriptions.retrieve(subscription.id)
  expect([ended.status, ended.ended_at]).toEqual(['canceled', seconds('2026-02-28T10:00:00Z')])
  expect((await stripe.invoices.list({ customer: customer.id })).data).toHaveLength(1)
  expect((await catchStripeError(stripe.subscriptions.cancel(subscription.id))).statusCode).toBe(
    404,
  )
  expect(
    (
      await catchStripeError(
        stripe.subscriptions.update(subscription.id, { cancel_at_period_end: false }),
      )
    ).statusCode,
  ).toBe(400)
})

it('the Stripe sandbox keeps an update pending until it is paid, or drops it after 23 hours', async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  const { customer } = await seedCustomer(stripe)
  const { monthly, better } = await seedPrices(stripe)
  const subscription = await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: monthly.id }],
  })
  const item = subscription.items.data[0]?.id ?? ''
  const change = {
    items: [{ id: item, price: better.id }],
    payment_behavior: 'pending_if_incomplete',
    proration_behavior: 'always_invoice',
  } as const
  await sandbox.clock.advance({ days: 14 })
  sandbox.trouble.declineNextCharge(customer.id, 'insufficient_funds')
  const held = await stripe.subscriptions.update(subscription.id, {
    ...change,
    items: [...change.items],
  })
  expect(held.pending_update?.expires_at).toBe(seconds('2026-02-15T09:00:00Z'))
  expect([held.status, held.items.data[0]?.price.id]).toEqual(['active', monthly.id])
  await stripe.invoices.pay(String(held.latest_invoice))
  const applied = await stripe.subscriptions.retrieve(subscription.id)
  expect([applied.pending_update, applied.items.data[0]?.price.id]).toEqual([null, better.id])
  sandbox.trouble.declineNextCharge(customer.id, 'insufficient_funds')
  const again = await stripe.subscriptions.update(subscription.id, {
    items: [{ id: item, quantity: 5 }],
    payment_behavior: 'pending_if_incomplete',
    proration_behavior: 'always_invoice',
  })
  await sandbox.clock.advance({ hours: 24 })
  expect((await stripe.subscriptions.retrieve(subscription.id)).pending_update).toBeNull()
  expect((await stripe.invoices.retrieve(String(again.latest_invoice))).status).toBe('void')
})

it('the Stripe sandbox drops a pending update if its invoice is voided, and replaces a pending update by a newer one', async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  const { customer } = await seedCustomer(stripe)
  const { monthly, better } = await seedPrices(stripe)
  const { id, items } = await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: monthly.id }],
  })
  const item = items.data[0]?.id ?? ''
  const hold = (change: object) => {
    sandbox.trouble.declineNextCharge(customer.id, 'insufficient_funds')
    return stripe.subscriptions.update(id, {
      items: [{ id: item, ...change }],
      metadata: { main: better.id },
      payment_behavior: 'pending_if_incomplete',
      proration_behavior: 'always_invoice',
    })
  }
  const first = await hold({ price: better.id })
  expect(first.pending_update).toMatchObject({
    metadata: { main: better.id },
    subscription_items: [{ id: item, price: { id: better.id } }],
  })
  expect(first.metadata).toEqual({})
  const second = await hold({ quantity: 7 })
  expect((await stripe.invoices.retrieve(String(first.latest_invoice))).status).toBe('void')
  expect(second.pending_update?.subscription_items).toMatchObject([
    { id: item, quantity: 7, price: { id: monthly.id } },
  ])
  await stripe.invoices.voidInvoice(String(second.latest_invoice))
  const left = await stripe.subscriptions.retrieve(id)
  expect(left).toMatchObject({ pending_update: null, status: 'active', metadata: {} })
  const third = await hold({ price: better.id })
  await stripe.invoices.pay(String(third.latest_invoice))
  expect(await stripe.subscriptions.retrieve(id)).toMatchObject({
    pending_update: null,
    metadata: { main: better.id },
    items: { data: [{ price: { id: better.id } }] },
  })
  const rates = { items: [{ id: item, tax_rates: '' }], payment_behavior: 'pending_if_incomplete' }
  await expect(stripe.subscriptions.update(id, rates as never)).rejects.toThrow(
    'Disallowed param: items[0][tax_rates]',
  )
})

it('the Stripe sandbox applies a pending update to the subscription as it is when the payment succeeds', async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  const { customer } = await seedCustomer(stripe)
  const { monthly, better } = await seedPrices(stripe)
  const old = await stripe.coupons.create({ percent_off: 5 })
  const kept = await stripe.coupons.create({ percent_off: 10 })
  const rate = await stripe.taxRates.create({
    display_name: 'VAT',
    percentage: 20,
    inclusive: false,
  })
  const { id, items } = await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: monthly.id }],
    discounts: [{ coupon: old.id }],
    metadata: { a: '1', b: '1' },
  })
  const itemId = items.data[0]?.id ?? ''
  sandbox.trouble.declineNextCharge(customer.id, 'insufficient_funds')
  const { latest_invoice: unpaid } = await stripe.subscriptions.update(id, {
    items: [{ id: itemId, price: better.id }],
    metadata: { a: '2' },
    payment_behavior: 'pending_if_incomplete',
    proration_behavior: 'always_invoice',
  })
  await stripe.subscriptions.update(id, {
    discounts: [{ coupon: kept.id }],
    default_tax_rates: [rate.id],
    metadata: { b: '3' },
    pause_collection: { behavior: 'void' },
    description: 'Changed meanwhile',
  })
  await stripe.invoices.pay(String(unpaid))
  const applied = await stripe.subscriptions.retrieve(id, { expand: ['discounts'] })
  expect(applied).toMatchObject({
    pending_update: null,
    items: { data: [{ id: itemId, price: { id: better.id } }] },
    discounts: [{ source: { coupon: kept.id } }],
    default_tax_rates: [{ id: rate.id }],
    metadata: { a: '2', b: '3' },
    pause_collection: { behavior: 'void' },
    description: 'Changed meanwhile',
    latest_invoice: unpaid,
  })
})

it('the Stripe sandbox pauses the collection of a subscription, and voids the invoices created during the pause', async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  const { customer } = await seedCustomer(stripe)
  const { monthly } = await seedPrices(stripe)
  const subscription = await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: monthly.id }],
  })
  await stripe.subscriptions.update(subscription.id, {
    pause_collection: { behavior: 'void', resumes_at: seconds('2026-03-15T00:00:00Z') },
  })
  await sandbox.clock.advance({ months: 2, hours: 1 })
  expect(
    (await stripe.invoices.list({ customer: customer.id })).data.map((invoice) => invoice.status),
  ).toEqual(['paid', 'void', 'paid'])
})

it('the Stripe sandbox pauses a subscription at the end of a trial without a card if configured', async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  const customer = await stripe.customers.create({})
  const { monthly } = await seedPrices(stripe)
  const subscription = await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: monthly.id }],
    trial_period_days: 2,
    trial_settings: { end_behavior: { missing_payment_method: 'pause' } },
  })
  await sandbox.clock.advance({ days: 3 })
  expect(await stripe.subscriptions.retrieve(subscription.id)).toMatchObject({
    status: 'paused',
    status_details: { paused: { subscription: { type: 'trial_end_without_payment_method' } } },
  })
  const method = await stripe.paymentMethods.attach('pm_card_visa', { customer: customer.id })
  await stripe.customers.update(customer.id, {
    invoice_settings: { default_payment_method: method.id },
  })
  const resumed = await stripe.subscriptions.resume(subscription.id, {
    billing_cycle_anchor: { type: 'now' },
  })
  expect(resumed.status).toBe('active')
})

it('the Stripe sandbox completes Checkout and manages the subscription in the portal', async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  const { monthly } = await seedPrices(stripe)
  const session = await stripe.checkout.sessions.create({
    mode: 'subscription',
    customer_email: 'eve@example.com',
    line_items: [{ price: monthly.id, quantity: 1 }],
    success_url: 'https://example.com/ok?s={CHECKOUT_SESSION_ID}',
  })
  expect(await (await fetch(session.url ?? '')).text()).toContain('$10.00')
  const done = await fetch(session.url ?? '', {
    method: 'POST',
    body: new URLSearchParams({ card: 'pm_card_visa' }),
    redirect: 'manual',
  })
  expect(done.headers.get('location')).toBe(`https://example.com/ok?s=${session.id}`)
  const complete = await stripe.checkout.sessions.retrieve(session.id, {
    expand: ['subscription', 'customer'],
  })
  expect(complete).toMatchObject({
    status: 'complete',
    payment_status: 'paid',
    subscription: { status: 'active' },
  })
  expect(sandbox.stripe.events('checkout.session.completed')).toHaveLength(1)
  const customer = (complete.customer as Stripe.Customer).id
  const portal = await stripe.billingPortal.sessions.create({ customer })
  const page = await (await fetch(portal.url)).text()
  const subscription = (complete.subscription as Stripe.Subscription).id
  expect(page).toContain(subscription)
  const token = new URL(portal.url).searchParams.get('token') ?? ''
  await fetch(portal.url, {
    method: 'POST',
    body: new URLSearchParams({ token, subscription, action: 'cancel' }),
  })
  expect((await stripe.subscriptions.retrieve(subscription)).cancel_at).not.toBeNull()
  expect((await fetch(portal.url.replace(token, 'x'))).status).toBe(403)
})

it.each([
  ['no parameters', {}, true],
  ['automatic payment methods', { automatic_payment_methods: { enabled: true } }, true],
  ['a return URL', { return_url: 'https://shop.example/done' }, false],
  [
    'no redirects',
    { automatic_payment_methods: { enabled: true, allow_redirects: 'never' } },
    false,
  ],
] as const)(
  'the Stripe sandbox requires a return_url for a payment whose method may redirect the customer: %s',
  async (_name, more, refused) => {
    const { stripe } = await startStripeSandbox()
    const creating = stripe.paymentIntents.create({
      amount: 1000,
      currency: 'usd',
      payment_method: 'pm_card_visa',
      confirm: true,
      ...more,
    })
    if (!refused) expect((await creating).status).toBe('succeeded')
    else
      expect(await catchStripeError(creating)).toMatchObject({
        statusCode: 400,
        param: 'return_url',
      })
  },
)

it('the Stripe sandbox stores a simulated response 500 under its idempotency key for a day, whether the call took effect or not', async () => {
  const { stripe, sandbox } = await startStripeSandbox()
  const create = (email: string) =>
    stripe.customers.create({ email }, { idempotencyKey: email, maxNetworkRetries: 0 })
  for (const [trouble, made] of [
    ['saved-500', 0],
    ['made-500', 1],
  ] as const) {
    const email = `${trouble}@example.com`
    sandbox.trouble.failNext(1, trouble)
    for (let time = 0; time < 3; time++) {
      expect(await catchStripeError(create(email))).toMatchObject({ statusCode: 500 })
    }
    expect((await stripe.customers.list({ email })).data).toHaveLength(made)
    await sandbox.clock.advance({ hours: 25 })
    expect((await create(email)).email).toBe(email)
  }
})

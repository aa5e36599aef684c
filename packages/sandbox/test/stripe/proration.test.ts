import type Stripe from 'stripe'
import { expect, it } from 'vitest'
import { seconds, seedCustomer, seedPrices, startStripeSandbox } from './support.ts'

const PERIOD = seconds('2026-02-28T10:00:00Z') - seconds('2026-01-31T10:00:00Z')

async function subscribe(options: { coupon?: Stripe.CouponCreateParams; taxed?: number } = {}) {
  const setup = await startStripeSandbox()
  const { stripe } = setup
  const { customer } = await seedCustomer(stripe)
  const prices = await seedPrices(stripe)
  const coupon = options.coupon ? await stripe.coupons.create(options.coupon) : null
  const rate = options.taxed
    ? await stripe.taxRates.create({
        display_name: 'VAT',
        percentage: options.taxed,
        inclusive: false,
      })
    : null
  const subscription = await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: prices.monthly.id }],
    ...(coupon ? { discounts: [{ coupon: coupon.id }] } : {}),
    ...(rate ? { default_tax_rates: [rate.id] } : {}),
  })
  return { ...setup, customer, ...prices, subscription, item: subscription.items.data[0]?.id ?? '' }
}

it('the Stripe sandbox prorates a swap by the second and bills it with the next renewal', async () => {
  const { sandbox, stripe, customer, subscription, item, better } = await subscribe()
  await sandbox.clock.advance({ days: 9, hours: 3, minutes: 7, seconds: 11 })
  const at = sandbox.clock.nowMs() / 1000
  const left = seconds('2026-02-28T10:00:00Z') - at
  await stripe.subscriptions.update(subscription.id, { items: [{ id: item, price: better.id }] })
  const pending = await stripe.invoiceItems.list({ customer: customer.id, pending: true })
  const credit = -Math.round((1000 * left) / PERIOD)
  const debit = Math.round((2500 * left) / PERIOD)
  expect(
    pending.data.map((each) => [each.amount, each.proration, each.description]).reverse(),
  ).toEqual([
    [credit, true, 'Unused time on Gold after 09 Feb 2026'],
    [debit, true, 'Remaining time on Gold after 09 Feb 2026'],
  ])
  await sandbox.clock.advanceTo(new Date('2026-02-28T11:00:00Z'))
  const [renewal] = (await stripe.invoices.list({ customer: customer.id })).data
  expect(renewal?.total).toBe(2500 + credit + debit)
  expect(renewal?.status).toBe('paid')
  expect(
    renewal?.lines.data.map((line) => [
      line.parent?.type,
      line.parent?.subscription_item_details?.proration,
      line.period.end,
    ]),
  ).toEqual([
    ['subscription_item_details', true, seconds('2026-02-28T10:00:00Z')],
    ['subscription_item_details', true, seconds('2026-02-28T10:00:00Z')],
    ['subscription_item_details', false, seconds('2026-03-31T10:00:00Z')],
  ])
})

it('the Stripe sandbox previews exactly the amount that a subscription update charges', async () => {
  const { sandbox, stripe, subscription, item, better } = await subscribe({ taxed: 19 })
  await sandbox.clock.advance({ days: 10, seconds: 13 })
  const proration_date = sandbox.clock.nowMs() / 1000
  const change = {
    items: [{ id: item, price: better.id, quantity: 3 }],
    proration_behavior: 'always_invoice',
    proration_date,
  } as const
  const preview = await stripe.invoices.createPreview({
    subscription: subscription.id,
    subscription_details: { ...change, items: [...change.items] },
  })
  const before = sandbox.snapshot()
  await stripe.invoices.createPreview({ subscription: subscription.id })
  expect({ ...sandbox.snapshot().store.tables, trouble: null }).toMatchObject({
    'stripe.invoice': before.store.tables['stripe.invoice'],
  })
  const updated = await stripe.subscriptions.update(subscription.id, {
    ...change,
    items: [...change.items],
    expand: ['latest_invoice'],
  })
  const invoice = updated.latest_invoice as Stripe.Invoice
  expect(invoice.status).toBe('paid')
  expect([invoice.total, invoice.subtotal]).toEqual([preview.total, preview.subtotal])
  expect(invoice.lines.data.map((line) => line.amount)).toEqual(
    preview.lines.data.map((line) => line.amount),
  )
  expect(preview.id).toMatch(/^upcoming_in_/)
})

it('the Stripe sandbox charges nothing in total if a swap is undone in the same second', async () => {
  const { sandbox, stripe, customer, subscription, item, better, monthly } = await subscribe()
  await sandbox.clock.advance({ days: 3, seconds: 1 })
  await stripe.subscriptions.update(subscription.id, { items: [{ id: item, price: better.id }] })
  await stripe.subscriptions.update(subscription.id, { items: [{ id: item, price: monthly.id }] })
  const pending = await stripe.invoiceItems.list({ customer: customer.id, pending: true })
  expect(pending.data).toHaveLength(4)
  expect(pending.data.reduce((sum, each) => sum + each.amount, 0)).toBe(0)
})

it('the Stripe sandbox prorates amounts after a lasting coupon, and credits only amounts that were billed', async () => {
  const { sandbox, stripe, customer, subscription, item, better } = await subscribe({
    coupon: { percent_off: 50, duration: 'forever' },
  })
  await sandbox.clock.advance({ days: 14 })
  await stripe.subscriptions.update(subscription.id, { items: [{ id: item, price: better.id }] })
  const pending = await stripe.invoiceItems.list({ customer: customer.id, pending: true })
  expect(pending.data.map((each) => each.amount).reverse()).toEqual([-250, 625])
})

it('the Stripe sandbox bills a new interval immediately and moves the billing date', async () => {
  const { sandbox, stripe, subscription, item, yearly } = await subscribe()
  await sandbox.clock.advance({ days: 14 })
  const swapped = await stripe.subscriptions.update(subscription.id, {
    items: [{ id: item, price: yearly.id }],
    expand: ['latest_invoice'],
  })
  const invoice = swapped.latest_invoice as Stripe.Invoice
  expect(invoice).toMatchObject({
    status: 'paid',
    billing_reason: 'subscription_update',
    total: 10_000 - 500,
  })
  expect(swapped.billing_cycle_anchor).toBe(seconds('2026-02-14T10:00:00Z'))
  expect(swapped.items.data[0]?.current_period_end).toBe(seconds('2027-02-14T10:00:00Z'))
})

it('the Stripe sandbox bills a new interval once for a subscription with cancel_at_period_end', async () => {
  const { stripe } = await startStripeSandbox()
  const { customer } = await seedCustomer(stripe)
  const { monthly, yearly } = await seedPrices(stripe)
  const { id, items } = await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: monthly.id }],
  })
  const swap = [{ id: items.data[0]?.id ?? '', price: yearly.id }]
  const running = await stripe.invoices.createPreview({
    subscription: id,
    subscription_details: { items: swap },
  })
  await stripe.subscriptions.update(id, { cancel_at_period_end: true })
  await stripe.subscriptions.update(id, { items: swap, cancel_at_period_end: false })
  const { data } = await stripe.invoices.list({ customer: customer.id })
  expect(data[0]?.total).toBe(running.total)
})

it('the Stripe sandbox adds the credit of a downgrade with always_invoice to the customer balance, and uses it up later', async () => {
  const { sandbox, stripe, customer, subscription, item, yearly, monthly } = await subscribe()
  await stripe.subscriptions.update(subscription.id, {
    items: [{ id: item, price: yearly.id }],
    proration_behavior: 'none',
  })
  await sandbox.clock.advance({ days: 73 })
  await stripe.subscriptions.update(subscription.id, { items: [{ id: item, price: monthly.id }] })
  const owed = await stripe.customers.retrieve(customer.id)
  expect((owed as Stripe.Customer).balance).toBe(1000 - 8000)
  await sandbox.clock.advance({ months: 1, hours: 1 })
  const later = (await stripe.customers.retrieve(customer.id)) as Stripe.Customer
  expect(later.balance).toBe(1000 - 8000 + 1000)
  const [latest] = (await stripe.invoices.list({ customer: customer.id, limit: 1 })).data
  expect(latest).toMatchObject({
    status: 'paid',
    total: 1000,
    amount_due: 0,
    starting_balance: -7000,
    ending_balance: -6000,
  })
})

it('the Stripe sandbox charges nothing for a swap with proration_behavior none, and the new price from the next period on', async () => {
  const { sandbox, stripe, customer, subscription, item, better } = await subscribe()
  await sandbox.clock.advance({ days: 10 })
  await stripe.subscriptions.update(subscription.id, {
    items: [{ id: item, price: better.id }],
    proration_behavior: 'none',
  })
  expect((await stripe.invoiceItems.list({ customer: customer.id })).data).toEqual([])
  await sandbox.clock.advanceTo(new Date('2026-02-28T11:00:00Z'))
  const [renewal] = (await stripe.invoices.list({ customer: customer.id, limit: 1 })).data
  expect(renewal?.total).toBe(2500)
})

it('the Stripe sandbox keeps a trial during a swap, and ends the trial with trial_end now', async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  const { customer } = await seedCustomer(stripe)
  const { monthly, better } = await seedPrices(stripe)
  const trial = await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: monthly.id }],
    trial_period_days: 10,
  })
  await sandbox.clock.advance({ days: 2 })
  const item = trial.items.data[0]?.id ?? ''
  const swapped = await stripe.subscriptions.update(trial.id, {
    items: [{ id: item, price: better.id }],
  })
  expect([swapped.status, swapped.trial_end]).toEqual(['trialing', trial.trial_end])
  expect((await stripe.invoiceItems.list({ customer: customer.id })).data).toEqual([])
  const skipped = await stripe.subscriptions.update(trial.id, {
    trial_end: 'now',
    expand: ['latest_invoice'],
  })
  expect(skipped.status).toBe('active')
  expect(skipped.latest_invoice).toMatchObject({ total: 2500, status: 'paid' })
  expect(skipped.items.data[0]?.current_period_end).toBe(seconds('2026-03-02T10:00:00Z'))
})

it('the Stripe sandbox swaps at the end of the period through a schedule', async () => {
  const { sandbox, stripe, customer, subscription, better, monthly } = await subscribe()
  const schedule = await stripe.subscriptionSchedules.create({ from_subscription: subscription.id })
  const [phase] = schedule.phases
  await stripe.subscriptionSchedules.update(schedule.id, {
    phases: [
      {
        items: [{ price: monthly.id, quantity: 1 }],
        start_date: phase?.start_date ?? 0,
        end_date: phase?.end_date ?? 0,
      },
      {
        items: [{ price: better.id, quantity: 2 }],
        duration: { interval: 'month', interval_count: 1 },
      },
    ],
  })
  await sandbox.clock.advanceTo(new Date('2026-02-28T11:00:00Z'))
  const swapped = await stripe.subscriptions.retrieve(subscription.id, {
    expand: ['latest_invoice', 'schedule'],
  })
  expect(swapped.latest_invoice).toMatchObject({ status: 'paid', total: 5000 })
  expect(swapped.items.data.map((each) => [each.price.id, each.quantity])).toEqual([[better.id, 2]])
  expect(swapped.schedule).toMatchObject({ status: 'active' })
  await sandbox.clock.advance({ months: 2 })
  const free = await stripe.subscriptions.retrieve(subscription.id)
  expect(free.schedule).toBeNull()
  expect(free.status).toBe('active')
  expect(
    (await stripe.invoices.list({ customer: customer.id })).data.map((invoice) => invoice.total),
  ).toEqual([5000, 5000, 1000])
})

it('the Stripe sandbox ends the first period at a billing cycle anchor in the future', async () => {
  const { stripe } = await startStripeSandbox({ now: new Date('2026-01-15T00:00:00Z') })
  const { customer } = await seedCustomer(stripe)
  const { monthly } = await seedPrices(stripe)
  const subscription = await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: monthly.id }],
    billing_cycle_anchor: seconds('2026-02-01T00:00:00Z'),
    expand: ['latest_invoice'],
  })
  expect((subscription.latest_invoice as Stripe.Invoice).total).toBe(Math.round((1000 * 17) / 31))
  expect(subscription.items.data[0]?.current_period_end).toBe(seconds('2026-02-01T00:00:00Z'))
})

it.each([300, -300])(
  'the Stripe sandbox bills an added item of %i cents together with the prorations of the update, as previewed',
  async (amount) => {
    const { sandbox, stripe, subscription, item, better } = await subscribe({ taxed: 10 })
    await sandbox.clock.advance({ days: 14 })
    const added = {
      price_data: { currency: 'usd', product: String(better.product), unit_amount: amount },
      discountable: false,
      metadata: { why: 'agreed' },
    }
    const items = [{ id: item, price: better.id }]
    const change = { items, proration_behavior: 'always_invoice' as const }
    const shown = await stripe.invoices.createPreview({
      subscription: subscription.id,
      subscription_details: change,
      invoice_items: [added],
    })
    const { latest_invoice: id } = await stripe.subscriptions.update(subscription.id, {
      ...change,
      add_invoice_items: [added],
    })
    const invoice = await stripe.invoices.retrieve(String(id))
    // Half of 25.00 less half of 10.00, with the tax.
    expect([invoice.subtotal, invoice.total]).toEqual([750 + amount, 825 + amount * 1.1])
    expect(shown.total).toBe(invoice.total)
    const line = invoice.lines.data.find(({ metadata }) => metadata.why === 'agreed')
    expect([line?.amount, line?.discountable]).toEqual([amount, false])
  },
)

it('the Stripe sandbox rejects negative prices except in invoice items', async () => {
  const { stripe, better } = await subscribe()
  const negative = stripe.prices.create({
    product: String(better.product),
    currency: 'usd',
    unit_amount: -1,
  })
  await expect(negative).rejects.toThrow('Invalid non-negative integer')
})

import { expect, it } from 'vitest'
import {
  catchStripeError,
  seconds,
  seedCustomer,
  seedPrices,
  startStripeSandbox,
} from './support.ts'

async function subscribed(more: object = {}) {
  const { sandbox, stripe } = await startStripeSandbox()
  const { customer } = await seedCustomer(stripe)
  const prices = await seedPrices(stripe)
  const items = [{ price: prices.monthly.id }]
  const subscription = await stripe.subscriptions.create({ customer: customer.id, items, ...more })
  return { sandbox, stripe, customer, subscription, ...prices }
}

it('the Stripe sandbox previews a last invoice of an ending subscription only if invoice items are pending', async () => {
  const { sandbox, stripe, customer, subscription } = await subscribed()
  const { id } = await stripe.subscriptions.update(subscription.id, { cancel_at_period_end: true })
  const none = await catchStripeError(stripe.invoices.createPreview({ subscription: id }))
  expect(none.code).toBe('invoice_upcoming_none')
  await stripe.invoiceItems.create({
    customer: customer.id,
    subscription: id,
    amount: 700,
    currency: 'usd',
  })
  const last = await stripe.invoices.createPreview({ subscription: id })
  expect([last.amount_due, last.period_end]).toEqual([700, seconds('2026-02-28T10:00:00Z')])
  await sandbox.clock.advance({ months: 1, hours: 2 })
  expect(
    sandbox.stripe
      .charges(customer.id)
      .map(({ amount }) => amount)
      .sort(),
  ).toEqual([1000, 700])
})

it('the Stripe sandbox previews the renewal of a subscription that ends later, and no invoice after its end', async () => {
  const { stripe, subscription } = await subscribed()
  await stripe.subscriptions.update(subscription.id, {
    cancel_at: seconds('2026-03-31T10:00:00Z'),
    proration_behavior: 'none',
  })
  const next = await stripe.invoices.createPreview({ subscription: subscription.id })
  expect([next.amount_due, next.period_end]).toEqual([1000, seconds('2026-02-28T10:00:00Z')])
})

it('the Stripe sandbox does not change a trial when its first invoice is previewed', async () => {
  const { sandbox, stripe, subscription } = await subscribed({ trial_period_days: 10 })
  const next = await stripe.invoices.createPreview({ subscription: subscription.id })
  expect(next.amount_due).toBe(1000)
  const { status } = await stripe.subscriptions.retrieve(subscription.id)
  expect(status).toBe('trialing')
  await sandbox.clock.advance({ days: 1 })
  expect((await stripe.subscriptions.retrieve(subscription.id)).status).toBe('trialing')
})

it('the Stripe sandbox leaves a discount out of an invoice preview if the discount will have expired by the date of the invoice', async () => {
  const { sandbox, stripe, subscription } = await subscribed()
  const repeating = { duration: 'repeating', duration_in_months: 2 } as const
  const coupon = await stripe.coupons.create({ percent_off: 50, ...repeating })
  await stripe.subscriptions.update(subscription.id, { discounts: [{ coupon: coupon.id }] })
  const due = async () =>
    (await stripe.invoices.createPreview({ subscription: subscription.id })).amount_due
  expect(await due()).toBe(500)
  // Until 31 March: the discount covers the renewals of February and, an instant later, none.
  await sandbox.clock.advance({ months: 1, hours: 2 })
  expect(await due()).toBe(1000)
})

it("the Stripe sandbox previews an amount below the minimum charge as carried over to the customer's balance", async () => {
  const { stripe, customer, subscription } = await subscribed()
  await stripe.customers.createBalanceTransaction(customer.id, { amount: -970, currency: 'usd' })
  const { total, amount_due, starting_balance } = await stripe.invoices.createPreview({
    subscription: subscription.id,
  })
  expect([total, amount_due, starting_balance]).toEqual([1000, 0, -970])
})

it('the Stripe sandbox previews a future subscription in the requested currency and billing mode', async () => {
  const { stripe } = await startStripeSandbox()
  const { monthly, yearly } = await seedPrices(stripe)
  const price = await stripe.prices.create({
    product: String(monthly.product),
    currency: 'usd',
    unit_amount: 1000,
    recurring: { interval: 'month' },
    currency_options: { eur: { unit_amount: 900 } },
  })
  const whom = { customer_details: { tax_exempt: 'none' } } as const
  const shown = await stripe.invoices.createPreview({
    ...whom,
    currency: 'eur',
    subscription_details: { items: [{ price: price.id }] },
  })
  expect([shown.currency, shown.amount_due]).toEqual(['eur', 900])
  const items = [{ price: monthly.id }, { price: yearly.id }]
  const mixed = await catchStripeError(
    stripe.invoices.createPreview({
      ...whom,
      subscription_details: { items, billing_mode: { type: 'classic' } },
    }),
  )
  expect(mixed.statusCode).toBe(400)
  expect(await stripe.customers.list()).toMatchObject({ data: [] })
})

it('the Stripe sandbox expires a subscription when its first invoice is voided, and reactivates a past due one', async () => {
  const { stripe, sandbox } = await startStripeSandbox()
  const { monthly } = await seedPrices(stripe)
  const { customer } = await seedCustomer(stripe, 'pm_card_chargeCustomerFail')
  const items = [{ price: monthly.id }]
  const unpaid = await stripe.subscriptions.create({ customer: customer.id, items })
  expect(unpaid.status).toBe('incomplete')
  await stripe.invoices.voidInvoice(String(unpaid.latest_invoice))
  const ended = await stripe.subscriptions.retrieve(unpaid.id)
  expect([ended.status, ended.ended_at]).toEqual([
    'incomplete_expired',
    Math.floor(sandbox.clock.nowMs() / 1000),
  ])
  expect(
    (await catchStripeError(stripe.subscriptions.cancel(unpaid.id))).statusCode,
  ).toBeGreaterThan(399)

  const other = (await seedCustomer(stripe)).customer
  const running = await stripe.subscriptions.create({ customer: other.id, items })
  for (let i = 0; i < 2; i++) sandbox.trouble.declineNextCharge(other.id, 'insufficient_funds')
  await sandbox.clock.advance({ months: 1, hours: 2 })
  const late = await stripe.subscriptions.retrieve(running.id)
  expect(late.status).toBe('past_due')
  await stripe.invoices.voidInvoice(String(late.latest_invoice))
  expect((await stripe.subscriptions.retrieve(running.id)).status).toBe('active')
  expect(await stripe.customers.retrieve(other.id)).toMatchObject({ delinquent: false })
})

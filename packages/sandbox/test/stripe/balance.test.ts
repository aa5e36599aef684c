import type Stripe from 'stripe'
import { expect, it } from 'vitest'
import { catchStripeError, seconds, seedCustomer, startStripeSandbox } from './support.ts'

it('the Stripe sandbox creates a balance transaction for each payment and refund, with amounts exact to the cent', async () => {
  const { stripe } = await startStripeSandbox()
  const { customer, method } = await seedCustomer(stripe)
  const intent = await pay(stripe, customer.id, method.id, 1999)
  const charge = await stripe.charges.retrieve(String(intent.latest_charge), {
    expand: ['balance_transaction'],
  })
  // 2.9 % of 19.99 is 57.971 cents, and 30 more.
  expect(charge.balance_transaction).toMatchObject({
    amount: 1999,
    available_on: seconds('2026-02-02T10:00:00Z'),
    fee: 88,
    fee_details: [{ amount: 88, type: 'stripe_fee' }],
    net: 1911,
    source: charge.id,
    status: 'pending',
    type: 'charge',
  })
  const refund = await stripe.refunds.create({ charge: charge.id, amount: 500 })
  const moved = await stripe.balanceTransactions.retrieve(String(refund.balance_transaction), {
    expand: ['source'],
  })
  expect(moved).toMatchObject({ amount: -500, fee: 0, fee_details: [], net: -500, type: 'refund' })
  expect((moved.source as Stripe.Refund).id).toBe(refund.id)
  const greedy = await catchStripeError(stripe.refunds.create({ charge: charge.id, amount: 1500 }))
  expect(greedy.message).toBe(
    'Refund amount ($15.00) is greater than unrefunded amount on charge ($14.99)',
  )
  const declined = await catchStripeError(
    stripe.paymentIntents.create({
      amount: 700,
      currency: 'usd',
      customer: customer.id,
      payment_method: 'pm_card_chargeCustomerFail',
      confirm: true,
      automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
    }),
  )
  expect(declined.code).toBe('card_declined')
  expect((await stripe.balanceTransactions.list()).data.map((row) => row.net)).toEqual([-500, 1911])
  expect(await funds(stripe)).toEqual({ available: { usd: 0 }, pending: { usd: 1411 } })
})

it("the Stripe sandbox changes the account's balance only when a payment is captured, by the captured amount", async () => {
  const { stripe } = await startStripeSandbox()
  const { customer, method } = await seedCustomer(stripe)
  const held = await stripe.paymentIntents.create({
    amount: 2000,
    currency: 'eur',
    customer: customer.id,
    payment_method: method.id,
    capture_method: 'manual',
    confirm: true,
    automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
  })
  const authorized = await stripe.charges.retrieve(String(held.latest_charge))
  expect(authorized.balance_transaction).toBeNull()
  expect((await stripe.balanceTransactions.list()).data).toEqual([])
  await stripe.paymentIntents.capture(held.id, { amount_to_capture: 1000 })
  const { data } = await stripe.balanceTransactions.list({ source: authorized.id })
  expect(data).toMatchObject([{ amount: 1000, currency: 'eur', fee: 59, net: 941 }])
  expect(await funds(stripe)).toEqual({
    available: { eur: 0, usd: 0 },
    pending: { eur: 941, usd: 0 },
  })
})

it('the Stripe sandbox shows the money of a payment as available after two days, in every list', async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  const { customer, method } = await seedCustomer(stripe)
  const early = await pay(stripe, customer.id, method.id, 1000)
  await sandbox.clock.advance({ days: 1 })
  await pay(stripe, customer.id, method.id, 2000)
  await sandbox.clock.advance({ days: 1 })
  expect(await funds(stripe)).toEqual({ available: { usd: 941 }, pending: { usd: 1912 } })
  const seen = await stripe.paymentIntents.retrieve(early.id, {
    expand: ['latest_charge.balance_transaction'],
  })
  expect(seen.latest_charge).toMatchObject({ balance_transaction: { status: 'available' } })
  const { data } = await stripe.balanceTransactions.list({ type: 'charge' })
  expect(data.map((row) => row.status)).toEqual(['pending', 'available'])
  await sandbox.clock.advance({ days: 1 })
  const later = await stripe.balanceTransactions.list({ currency: 'usd' })
  expect(later.data.map((row) => row.status)).toEqual(['available', 'available'])
  expect(await funds(stripe)).toEqual({ available: { usd: 2853 }, pending: { usd: 0 } })
})

it('the Stripe sandbox returns an empty list of balance transactions of payouts, since there are no payouts', async () => {
  const { stripe } = await startStripeSandbox()
  expect((await catchStripeError(stripe.balanceTransactions.list({ payout: 'po_1' }))).code).toBe(
    'resource_missing',
  )
  expect((await catchStripeError(stripe.balanceTransactions.retrieve('txn_x'))).message).toBe(
    "No such balance transaction: 'txn_x'",
  )
})

function pay(stripe: Stripe, customer: string, method: string, amount: number) {
  return stripe.paymentIntents.create({
    amount,
    currency: 'usd',
    customer,
    payment_method: method,
    confirm: true,
    automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
  })
}

async function funds(stripe: Stripe) {
  const { available, pending } = await stripe.balance.retrieve()
  const byCurrency = (list: Array<{ amount: number; currency: string }>) =>
    Object.fromEntries(list.map(({ amount, currency }) => [currency, amount]))
  return { available: byCurrency(available), pending: byCurrency(pending) }
}

it('the Stripe sandbox returns the money to the balance when a refund fails later, and allows another refund', async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  const { customer, method } = await seedCustomer(stripe)
  const intent = await pay(stripe, customer.id, method.id, 1999)
  const id = String(intent.latest_charge)
  const refund = await stripe.refunds.create({ charge: id })
  expect((await stripe.charges.retrieve(id)).refunded).toBe(true)
  sandbox.stripe.failRefund(refund.id)
  const failed = await stripe.refunds.retrieve(refund.id, {
    expand: ['failure_balance_transaction'],
  })
  expect(failed).toMatchObject({
    status: 'failed',
    failure_reason: 'expired_or_canceled_card',
    failure_balance_transaction: { amount: 1999, type: 'refund_failure' },
  })
  expect(sandbox.stripe.events('refund.failed')).toHaveLength(1)
  expect(await stripe.charges.retrieve(id)).toMatchObject({ amount_refunded: 0, refunded: false })
  expect(() => sandbox.stripe.failRefund(refund.id)).toThrow('cannot fail any more')
  expect((await stripe.refunds.create({ charge: id, amount: 500 })).status).toBe('succeeded')
})

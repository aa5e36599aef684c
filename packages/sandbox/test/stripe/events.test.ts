import type Stripe from 'stripe'
import { expect, it } from 'vitest'
import { seedCustomer, seedPrices, startStripeSandbox } from './support.ts'

async function renewOnce() {
  const { sandbox, stripe } = await startStripeSandbox()
  const { customer } = await seedCustomer(stripe)
  const { monthly } = await seedPrices(stripe)
  await stripe.subscriptions.create({ customer: customer.id, items: [{ price: monthly.id }] })
  await sandbox.clock.advance({ months: 1, hours: 2 })
  return { sandbox, stripe }
}

it('the Stripe sandbox returns events that contain the object as it was after each change of a step', async () => {
  const { sandbox, stripe } = await renewOnce()
  const told = sandbox.stripe.events().slice(-9)
  const states = told.map(({ type, data }) => {
    const { object } = data as { object: Pick<Stripe.Invoice, 'status' | 'status_transitions'> }
    const { finalized_at, paid_at } = object.status_transitions ?? {}
    return [type, object.status, Boolean(finalized_at), Boolean(paid_at)]
  })
  expect(states).toEqual(
    expect.arrayContaining([
      ['payment_intent.created', 'requires_payment_method', false, false],
      ['invoice.finalized', 'open', true, false],
      ['payment_intent.succeeded', 'succeeded', false, false],
      ['invoice_payment.paid', 'paid', false, true],
      ['invoice.paid', 'paid', true, true],
    ]),
  )
  // Read one by one, events have the same data as in a list.
  for (const { id, data } of told) expect((await stripe.events.retrieve(id)).data).toEqual(data)
})

it.each([
  ['is paid at once', 'pm_card_visa', 'allow_incomplete', 'active'],
  ['waits for its first payment', 'pm_card_visa', 'default_incomplete', 'incomplete'],
  ['requires authentication', 'pm_card_threeDSecure2Required', 'allow_incomplete', 'incomplete'],
  ['is declined', 'pm_card_chargeCustomerFail', 'allow_incomplete', 'incomplete'],
] as const)(
  'the Stripe sandbox sends the events of a new subscription in the right order, for a subscription that %s',
  async (_, card, payment_behavior, status) => {
    const { sandbox, stripe } = await startStripeSandbox()
    const { customer } = await seedCustomer(stripe, card)
    const { monthly } = await seedPrices(stripe)
    const items = [{ price: monthly.id }]
    await stripe.subscriptions.create({ customer: customer.id, items, payment_behavior })
    const told = sandbox.stripe
      .events()
      .filter(({ type }) => /subscription|^invoice\./.test(String(type)))
    expect(told[0]).toMatchObject({
      type: 'customer.subscription.created',
      data: { object: { status } },
    })
    expect(told.map(({ type }) => type)).not.toContain('customer.subscription.updated')
  },
)

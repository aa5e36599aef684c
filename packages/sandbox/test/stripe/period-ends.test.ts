import { expect, it } from 'vitest'
import { seedCustomer, seedPrices, startStripeSandbox } from './support.ts'

it('the Stripe sandbox cancels a subscription at the end of the new period after a pending update changed the period', async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  const { customer } = await seedCustomer(stripe)
  const { monthly, yearly } = await seedPrices(stripe)
  const { id, items } = await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: monthly.id }],
  })
  sandbox.trouble.declineNextCharge(customer.id, 'insufficient_funds')
  const { latest_invoice: unpaid } = await stripe.subscriptions.update(id, {
    items: [{ id: items.data[0]?.id ?? '', price: yearly.id }],
    payment_behavior: 'pending_if_incomplete',
    proration_behavior: 'always_invoice',
  })
  const ending = await stripe.subscriptions.update(id, { cancel_at_period_end: true })
  expect(ending).toMatchObject({
    pending_update: expect.anything(),
    cancel_at: items.data[0]?.current_period_end,
  })

  await stripe.invoices.pay(String(unpaid))
  const applied = await stripe.subscriptions.retrieve(id)
  const end = applied.items.data[0]?.current_period_end
  expect(end).toBeGreaterThan(ending.cancel_at ?? 0)
  expect(applied).toMatchObject({ cancel_at_period_end: true, cancel_at: end })
  await sandbox.clock.advance({ days: 60 })
  expect(await stripe.subscriptions.retrieve(id)).toMatchObject({ status: 'active' })
  await sandbox.clock.advance({ days: 310 })
  expect(await stripe.subscriptions.retrieve(id)).toMatchObject({
    status: 'canceled',
    ended_at: end,
  })
})

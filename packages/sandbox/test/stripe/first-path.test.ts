import { expect, it } from 'vitest'
import { seconds, seedCustomer, seedPrices, startStripeSandbox } from './support.ts'

it('the Stripe sandbox bills a new subscription immediately and again a month later', async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  const { customer } = await seedCustomer(stripe)
  const { monthly } = await seedPrices(stripe)
  const subscription = await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: monthly.id }],
    expand: [
      'latest_invoice.payments',
      'latest_invoice.confirmation_secret',
      'pending_setup_intent',
    ],
  })
  expect(subscription.status).toBe('active')
  expect(subscription.items.data[0]?.current_period_end).toBe(seconds('2026-02-28T10:00:00Z'))
  await sandbox.clock.advance({ months: 1, hours: 2 })
  const renewed = await stripe.subscriptions.retrieve(subscription.id)
  expect(renewed.items.data[0]?.current_period_end).toBe(seconds('2026-03-31T10:00:00Z'))
  const invoices = await stripe.invoices.list({ customer: customer.id })
  expect(invoices.data.map((invoice) => [invoice.status, invoice.total])).toEqual([
    ['paid', 1000],
    ['paid', 1000],
  ])
})

import { expect, it } from 'vitest'
import { seedCustomer, seedPrices, startStripeSandbox } from './support.ts'

it.each([
  ['lost_card', 1],
  ['insufficient_funds', 2],
])(
  'after the decline code %s, the Stripe sandbox makes %s charge attempts with the same card',
  async (code, asked) => {
    const { sandbox, stripe } = await startStripeSandbox()
    const { customer } = await seedCustomer(stripe)
    const { monthly } = await seedPrices(stripe)
    const subscription = await stripe.subscriptions.create({
      customer: customer.id,
      items: [{ price: monthly.id }],
    })
    for (let count = 0; count < 9; count++) sandbox.trouble.declineNextCharge(customer.id, code)
    await sandbox.clock.advance({ months: 1, hours: 2 })
    await sandbox.clock.advance({ days: 4 })
    const [invoice] = (await stripe.invoices.list({ subscription: subscription.id })).data
    const failed = sandbox.stripe.charges(customer.id).filter(({ status }) => status === 'failed')
    expect([invoice?.attempt_count, failed.length]).toEqual([2, asked])
    expect(invoice?.next_payment_attempt).not.toBeNull()

    // The next retry is made with another card.
    sandbox.trouble.clear()
    const method = await stripe.paymentMethods.attach('pm_card_mastercard', {
      customer: customer.id,
    })
    await stripe.customers.update(customer.id, {
      invoice_settings: { default_payment_method: method.id },
    })
    await sandbox.clock.advance({ days: 6 })
    expect((await stripe.invoices.retrieve(invoice?.id ?? '')).status).toBe('paid')
    expect((await stripe.subscriptions.retrieve(subscription.id)).status).toBe('active')
  },
)

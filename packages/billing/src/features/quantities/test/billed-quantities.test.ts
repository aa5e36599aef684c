import { expect, it } from 'vitest'
import { createImpatientBilling, LOSSES, loseResponse } from '../../../../test/lost-answers.ts'
import { type FlowTest, PROVIDERS, start, sumChargedCents } from '../../../../test/support.ts'
import {
  InvalidArgument,
  PaymentActionRequired,
  ProviderUnavailable,
  Unsupported,
} from '../../../index.ts'

function defineSeats({ sandbox }: FlowTest): void {
  sandbox.stripe.seedPrice({ id: 'seat', unitAmount: 500, interval: 'month', product: 'Extras' })
  sandbox.braintree.defineAddOn({ id: 'seat', amount: 500 })
}

it.each(PROVIDERS)(
  'incrementAndInvoice() and updateQuantityAndInvoice() bill the difference immediately at $provider',
  async ({ provider, card }) => {
    const test = await start(provider)
    defineSeats(test)
    const { user } = test
    const made = await user.newSubscription('main', 'monthly').price('seat').create(card)
    expect(sumChargedCents(test, user)).toBe(1500)
    await made.incrementAndInvoice(1, 'seat')
    expect(sumChargedCents(test, user)).toBe(2000)
    await made.updateQuantityAndInvoice(5, 'seat')
    expect(sumChargedCents(test, user)).toBe(3500)
    await made.updateQuantityAndInvoice(5, 'seat')
    expect(sumChargedCents(test, user)).toBe(3500)
    expect((await user.subscription('main')).findItem('seat')?.quantity).toBe(5)
    if (provider === 'stripe') {
      await made.incrementAndInvoice(2)
      expect((await user.subscription('main')).quantity).toBe(3)
      expect(sumChargedCents(test, user)).toBe(5500)
      await made.pause()
      await expect(made.incrementAndInvoice()).rejects.toThrow(InvalidArgument)
    } else await expect(made.incrementAndInvoice()).rejects.toThrow(Unsupported)
  },
)

it.each(LOSSES)(
  'incrementAndInvoice() bills once when a response is lost and the call is repeated (kind of failure: %s)',
  async (how) => {
    const test = await start('stripe', { webhooks: false })
    for (let call = 0, wasHit = true; wasHit && call < 30; call++) {
      const user = await test.createUser()
      const made = await user.newSubscription('main', 'monthly').create('pm_card_visa')
      const other = await (await createImpatientBilling(test).user(user.id)).subscription('main')
      loseResponse(test, 'stripe', { after: call, how })
      const first = await other.incrementAndInvoice(2).catch((error: unknown) => error)
      wasHit = test.sandbox.trouble.takeCallTrouble('stripe') === null
      test.sandbox.trouble.clear()
      if (first instanceof Error) {
        expect(first).toBeInstanceOf(ProviderUnavailable)
        await made.incrementAndInvoice(2)
      }
      expect((await user.subscription('main')).quantity, `call ${call}`).toBe(3)
      expect(sumChargedCents(test, user), `call ${call}`).toBe(3000)
    }
  },
)

it('incrementAndInvoice() adds units only after the customer has confirmed the payment, and the next call adds further units (threat W6)', async () => {
  const test = await start('stripe')
  const { user } = test
  const made = await user.newSubscription('main', 'monthly').create('pm_card_visa')
  await user.updateCard('pm_card_authenticationRequired')
  const ask = async () => {
    const error = await made.incrementAndInvoice().catch((failure: unknown) => failure)
    expect(error).toBeInstanceOf(PaymentActionRequired)
    return (error as PaymentActionRequired).payment.id
  }
  const payment = await ask()
  expect(await ask()).toBe(payment)
  expect((await user.subscription('main')).quantity).toBe(1)
  test.sandbox.stripe.completeAuthentication(payment)
  await test.settle()
  expect((await user.subscription('main')).quantity).toBe(2)
  test.sandbox.stripe.completeAuthentication(await ask())
  await test.settle()
  expect((await user.subscription('main')).quantity).toBe(3)
  expect(sumChargedCents(test, user)).toBe(3000)
})

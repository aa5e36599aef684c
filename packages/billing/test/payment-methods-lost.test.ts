import { describe, expect, it } from 'vitest'
import { type BillableUser, ProviderUnavailable } from '../src/index.ts'
import { hasty, LOSSES, loseAnswer } from './lost-answers.ts'
import { type FlowTest, PROVIDERS, start } from './support.ts'

describe.each(PROVIDERS)('payment methods at $provider', (given) => {
  const { provider, card, otherCard, otherLastFour } = given

  /** Braintree's nonces work once, as real ones; Stripe's test value is another card each time. */
  const newCard = ({ sandbox }: FlowTest) =>
    provider === 'braintree' ? sandbox.braintree.createNonce() : 'pm_card_amex'

  const DEEDS: readonly {
    readonly name: string
    readonly act: (user: BillableUser, test: FlowTest, token: string) => Promise<unknown>
    readonly left: number
  }[] = [
    {
      name: 'addPaymentMethod',
      act: (user, _test, token) => user.addPaymentMethod(token, { makeDefault: true }),
      left: 3,
    },
    {
      name: 'updateDefaultPaymentMethod',
      act: async (user) => {
        const all = await user.paymentMethods()
        const other = all.find(({ lastFour }) => lastFour === otherLastFour)
        await user.updateDefaultPaymentMethod(other?.id ?? '')
      },
      left: 2,
    },
    {
      name: 'deletePaymentMethod',
      act: async (user) => {
        const all = await user.paymentMethods()
        const other = all.find(({ lastFour }) => lastFour === otherLastFour)
        await user.deletePaymentMethod(other?.id ?? 'gone')
      },
      left: 1,
    },
  ]

  it.each(DEEDS.flatMap((deed) => LOSSES.map((how) => ({ ...deed, how }))))(
    'bear a lost answer: $name, $how',
    async ({ act, left, how }) => {
      const test = await start(provider, { webhooks: false })
      const { sandbox } = test
      for (let call = 0, wasHit = true; wasHit && call < 20; call++) {
        const user = await test.createUser()
        await user.newSubscription('main', 'monthly').create(card)
        await user.addPaymentMethod(otherCard)
        const token = newCard(test)
        const other = await hasty(test).user(user.id)
        loseAnswer(test, provider, { after: call, how })
        const failed = await act(other, test, token).then(
          () => null,
          (error: unknown) => error,
        )
        wasHit = sandbox.trouble.takeCallTrouble(provider) === null
        sandbox.trouble.clear()
        if (failed) {
          expect(failed, `call ${call}`).toBeInstanceOf(ProviderUnavailable)
          await act(user, test, token)
        }
        expect(await user.paymentMethods(), `call ${call}`).toHaveLength(left)
        const usual = await user.defaultPaymentMethod()
        expect((await test.billing.user(user.id)).cardLastFour).toBe(usual?.lastFour)
        expect(await user.subscribed('main')).toBe(true)
      }
    },
  )
})

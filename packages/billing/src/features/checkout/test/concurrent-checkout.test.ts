import { describe, expect, it } from 'vitest'
import { start, stripeSdk } from '../../../../test/support.ts'
import { CHECKOUT_OPTIONS, expectOneSubscription, listStoredOperationKinds } from './support.ts'

describe('a hosted page at Stripe, with several processes', () => {
  it('creates one subscription row from concurrent webhooks and returns of the customer', async () => {
    const test = await start('stripe')
    const { user, sandbox } = test
    sandbox.outbox.set({ duplicate: 3, reorder: true })
    const { id } = await user.checkout('monthly', CHECKOUT_OPTIONS)
    sandbox.stripe.completeCheckout(id)
    const others = [test.another(), test.another(), test.billing]
    await sandbox.outbox.flush()
    await Promise.all(
      others.flatMap((billing) => [
        billing.process(),
        billing.user(user.id).then((each) => each.completeCheckout(id)),
      ]),
    )
    await test.settle()
    await expectOneSubscription(test, user)
  })

  it('is created once for repeated and concurrent calls', async () => {
    const test = await start('stripe')
    const { user } = test
    const pages = await Promise.all([1, 2, 3].map(() => user.checkout('monthly', CHECKOUT_OPTIONS)))
    const again = await user.checkout('monthly', CHECKOUT_OPTIONS)
    expect(new Set([...pages, again].map(({ id }) => id)).size).toBe(1)
    expect(await listStoredOperationKinds(test)).toEqual(['checkout'])
    const stripe = await stripeSdk(test)
    expect((await stripe.checkout.sessions.list()).data).toHaveLength(1)
  })
})

import { describe, expect, it } from 'vitest'
import { start, stripeSdk } from '../../../../test/support.ts'
import { expectOne, operationsOf, PAGE } from './support.ts'

describe('a hosted page at Stripe under concurrency', () => {
  it('creates one row from concurrent webhooks and returns in several processes', async () => {
    const test = await start('stripe')
    const { user, sandbox } = test
    sandbox.outbox.set({ duplicate: 3, reorder: true })
    const { id } = await user.checkout('monthly', PAGE)
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
    await expectOne(test, user)
  })

  it('is created once for repeated and concurrent calls', async () => {
    const test = await start('stripe')
    const { user } = test
    const pages = await Promise.all([1, 2, 3].map(() => user.checkout('monthly', PAGE)))
    const again = await user.checkout('monthly', PAGE)
    expect(new Set([...pages, again].map(({ id }) => id)).size).toBe(1)
    expect(await operationsOf(test)).toEqual(['checkout'])
    const stripe = await stripeSdk(test)
    expect((await stripe.checkout.sessions.list()).data).toHaveLength(1)
  })
})

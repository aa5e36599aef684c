import { describe, expect, it } from 'vitest'
import { expectOne, operationsOf, PAGE } from './checkout-support.ts'
import { start, stripeSdk } from './support.ts'

describe('a hosted page at stripe that many are about', () => {
  it('makes one row by events and returns at once, in several processes', async () => {
    const test = await start('stripe')
    const { user, sandbox } = test
    sandbox.outbox.set({ duplicate: 3, reorder: true })
    const { id } = await user.checkout('monthly', PAGE)
    sandbox.stripe.completeCheckout(id)
    const others = [test.another(), test.another(), test.billing]
    await sandbox.outbox.flush()
    await Promise.all(
      others.flatMap((billing) => [
        billing.webhooks.process(),
        billing.user(user.id).then((each) => each.completeCheckout(id)),
      ]),
    )
    await test.settle()
    await expectOne(test, user)
  })

  it('is one page for those who ask twice, or at once', async () => {
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

import { describe, expect, it } from 'vitest'
import { type FlowTest, start, stripeSdk, sumChargedCents } from '../../../../test/support.ts'
import { CheckoutNotFound, InvalidArgument, money, Unsupported } from '../../../index.ts'

const PAGE = { name: 'main', successPath: '/done', tax: 'none' } as const
const SHIRT = { amount: money(1500, 'usd'), name: 'Shirt' }

function pay({ sandbox }: FlowTest, id: string): void {
  sandbox.stripe.completeCheckout(id, { email: 'guest@example.com' })
}

async function paidSubscription(test: FlowTest): Promise<string> {
  const { id } = await test.billing.guestCheckout('monthly', PAGE)
  pay(test, id)
  await test.settle()
  return id
}

async function countStoredOperations({ database }: FlowTest): Promise<number> {
  return (await database.kysely.selectFrom('billing_operations').select('id').execute()).length
}

describe('a guest checkout', () => {
  it('starts a subscription of the user who claims the page', async () => {
    const emitted: string[] = []
    const on = { 'checkout.completed': () => void emitted.push('checkout.completed') }
    const test = await start('stripe', { on })
    const { user } = test
    const id = await paidSubscription(test)
    expect([await user.subscribed('main'), user.providerId]).toEqual([false, null])
    const result = await user.claimCheckout(id)
    expect(result).toMatchObject({ id, status: 'complete', isPaid: true })
    expect(result.subscription?.name).toBe('main')
    expect([await user.subscribed('main'), sumChargedCents(test, user)]).toEqual([true, 1000])
    await user.charge(500)
    expect(sumChargedCents(test, user)).toBe(1500)
    const again = await user.claimCheckout(id)
    expect(again.subscription?.id).toBe(result.subscription?.id)
    await test.settle()
    expect([emitted.length, await countStoredOperations(test)]).toEqual([1, 0])
  })

  it('takes a single payment, which a user can refund once they have claimed the page', async () => {
    const test = await start('stripe')
    const { billing, user } = test
    const { id } = await billing.guestCheckout([SHIRT], { ...PAGE, mode: 'payment' })
    pay(test, id)
    const { payment, isPaid, subscription } = await user.claimCheckout(id)
    expect([isPaid, subscription, sumChargedCents(test, user)]).toEqual([true, null, 1500])
    expect(await user.refund(payment ?? '')).toMatchObject({ amount: money(1500, 'usd') })
  })

  it('starts a subscription that renews and is updated by webhooks after the claim', async () => {
    const test = await start('stripe')
    const { user } = test
    await user.claimCheckout(await paidSubscription(test))
    await test.advance({ months: 1, hours: 2 })
    expect([await user.subscribed('main'), sumChargedCents(test, user)]).toEqual([true, 2000])
  })

  it('is never assigned to a user because of its e-mail address', async () => {
    const test = await start('stripe')
    const { id } = await test.billing.guestCheckout('monthly', PAGE)
    const guest = await test.createUser({ email: 'guest@example.com' })
    pay(test, id)
    await test.settle()
    await test.billing.sync()
    expect([await guest.subscribed('main'), guest.providerId]).toEqual([false, null])
  })

  it('is claimed by only one of two concurrent users (threat M1)', async () => {
    const test = await start('stripe')
    const id = await paidSubscription(test)
    const users = [test.user, await test.createUser({ email: 'eve@example.com' })]
    const outcomes = await Promise.allSettled(users.map((user) => user.claimCheckout(id)))
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    const refused = outcomes.find(({ status }) => status === 'rejected')
    expect(refused).toMatchObject({ reason: { code: 'checkout_not_found' } })
    const subscribed = await Promise.all(users.map((user) => user.subscribed('main')))
    expect(subscribed.filter(Boolean)).toHaveLength(1)
  })

  it('cannot be claimed while it is open, with a forged id, after another user’s claim, or if it was created for a user (threat M1)', async () => {
    const test = await start('stripe')
    const { billing, user } = test
    const eve = await test.createUser({ email: 'eve@example.com' })
    const open = await billing.guestCheckout('monthly', PAGE)
    const claimed = await paidSubscription(test)
    await user.claimCheckout(claimed)
    const { checkout } = await stripeSdk(test)
    const foreign = await checkout.sessions.create({
      mode: 'subscription',
      line_items: [{ price: 'monthly', quantity: 1 }],
      success_url: 'https://app.example.com/done',
    })
    pay(test, foreign.id)
    const bob = await test.createUser({ email: 'bob@example.com' })
    const own = await bob.checkout('monthly', { name: 'main', successPath: '/done' })
    test.sandbox.stripe.completeCheckout(own.id)
    const ids = [open.id, claimed, foreign.id, own.id, `${claimed}0`, 'cs_none', '../x', '']
    for (const id of ids) {
      const error = await eve.claimCheckout(id).catch((thrown: unknown) => thrown)
      expect(error, id).toBeInstanceOf(CheckoutNotFound)
      expect(error, id).toMatchObject({ message: 'There is no such checkout' })
    }
    expect((await billing.user(eve.id)).providerId).toBeNull()
  })

  it('cannot be claimed by a user who is already a customer, and can then still be claimed by another user', async () => {
    const test = await start('stripe')
    const { user } = test
    await user.updateCard('pm_card_visa')
    const id = await paidSubscription(test)
    await expect(user.claimCheckout(id)).rejects.toMatchObject({ reason: 'has_customer' })
    const eve = await test.createUser({ email: 'eve@example.com' })
    expect((await eve.claimCheckout(id)).subscription?.name).toBe('main')
  })

  it('returns the same page for the same idempotency key', async () => {
    const { billing } = await start('stripe')
    const open = (idempotencyKey: string) =>
      billing.guestCheckout('monthly', { ...PAGE, idempotencyKey })
    const [first, second, other] = [await open('a'), await open('a'), await open('b')]
    expect(second.id).toBe(first.id)
    expect(other.id).not.toBe(first.id)
  })

  it('stores metadata with the page and the subscription', async () => {
    const test = await start('stripe')
    const metadata = { campaign: 'spring' }
    const { id } = await test.billing.guestCheckout('monthly', { ...PAGE, metadata })
    pay(test, id)
    const { subscription } = await test.user.claimCheckout(id)
    expect(await subscription?.metadata()).toEqual(metadata)
  })

  it('rejects options that need a user, before any request', async () => {
    const { billing } = await start('stripe')
    const open = (options: object) => billing.guestCheckout('monthly', options as never)
    await expect(open({ successPath: '/done' })).rejects.toThrow(InvalidArgument)
    await expect(open({ ...PAGE, tax: 'percentage' })).rejects.toThrow(InvalidArgument)
    await expect(open({ ...PAGE, successPath: 'https://evil.example' })).rejects.toThrow(
      InvalidArgument,
    )
    await expect(open({ ...PAGE, trialDays: 9 })).rejects.toThrow(InvalidArgument)
  })

  it('is unsupported at Braintree', async () => {
    const { billing, user } = await start('braintree')
    await expect(billing.guestCheckout('monthly', PAGE)).rejects.toThrow(Unsupported)
    await expect(user.claimCheckout('cs_none')).rejects.toThrow(Unsupported)
  })
})

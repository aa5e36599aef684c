import { describe, expect, it } from 'vitest'
import { createImpatientBilling, LOSSES, loseResponse } from '../../../../test/lost-answers.ts'
import { countProviderSubscriptions, start, stripeSdk } from '../../../../test/support.ts'
import { InvalidArgument, ProviderUnavailable, Unsupported } from '../../../index.ts'

const CARD = 'pm_card_visa'
const GIVEN = { campaign: 'spring', order: '7' }
const many = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`key-${at}`, 'x']))

describe('withMetadata()', () => {
  it('stores the metadata with the subscription at Stripe, in addition to the keys that billing uses', async () => {
    const { user } = await start('stripe')
    const builder = user.newSubscription('main', 'monthly').withMetadata(GIVEN)
    const made = await builder.create(CARD)
    expect(await made.metadata()).toEqual(GIVEN)
    const { metadata } = (await made.asProvider()) as { metadata: object }
    expect(metadata).toMatchObject({ ...GIVEN, name: 'main' })
    await made.swap('yearly')
    await made.cancelNow()
    expect(await made.metadata()).toEqual(GIVEN)
  })

  it('replaces the metadata of an earlier call, and does not affect other new subscriptions', async () => {
    const { user } = await start('stripe')
    const builder = user.newSubscription('main', 'monthly').withMetadata({ old: 'yes' })
    await builder.withMetadata(GIVEN).create(CARD)
    expect(await (await user.subscription('main')).metadata()).toEqual(GIVEN)
    const other = await user.newSubscription('other', 'monthly').create()
    expect(await other.metadata()).toEqual({})
  })

  it('stores metadata that is read back without the keys that billing adds', async () => {
    const test = await start('stripe')
    const { coupons } = await stripeSdk(test)
    await coupons.create({ id: 'TEN', percent_off: 10, duration: 'forever' })
    const { user } = test
    test.sandbox.stripe.seedPrice({ id: 'seat', unitAmount: 500, interval: 'month', product: 'A' })
    const made = await user
      .newSubscription('main', 'monthly')
      .price('seat')
      .withCoupon('TEN')
      .withTax('percentage')
      .anchorOn(new Date('2026-02-01T00:00:00Z'))
      .create(CARD)
    await made.removeDiscounts()
    const { metadata } = (await made.asProvider()) as { metadata: object }
    expect(Object.keys(metadata).sort()).toEqual(
      ['coupon', 'discounts_changed', 'main', 'name', 'operation', 'taxed_by', 'terms'].sort(),
    )
    expect(await made.metadata()).toEqual({})
  })

  it.each(LOSSES)(
    'stores the metadata once when a response is lost (kind of failure: %s)',
    async (how) => {
      let lost = 0
      for (let after = 0, wasHit = true; wasHit; after++) {
        const test = await start('stripe', { webhooks: false })
        const create = (of: typeof test.user) =>
          of.newSubscription('main', 'monthly').withMetadata(GIVEN).create(CARD)
        loseResponse(test, 'stripe', { after, how })
        const failed = await create(await createImpatientBilling(test).user(test.user.id)).then(
          () => null,
          (error: unknown) => error,
        )
        wasHit = test.sandbox.trouble.takeCallTrouble('stripe') === null
        test.sandbox.trouble.clear()
        if (!wasHit) break
        lost += 1
        if (failed) expect(failed).toBeInstanceOf(ProviderUnavailable)
        expect(await (await create(test.user)).metadata()).toEqual(GIVEN)
        expect(countProviderSubscriptions(test, test.user)).toBe(1)
      }
      expect(lost).toBeGreaterThan(0)
    },
  )

  it('has no effect when create() returns an existing subscription', async () => {
    const { user } = await start('stripe')
    const builder = user.newSubscription('main', 'monthly')
    const first = await builder.withMetadata(GIVEN).create(CARD)
    const again = await builder.withMetadata({ campaign: 'autumn' }).create(CARD)
    expect(again.id).toBe(first.id)
    expect(await again.metadata()).toEqual(GIVEN)
  })

  it.each([
    ['a key of billing', { name: 'other' }],
    ['a key with the prefix of billing', { tollgate_held_tax_0: '{}' }],
    ['an empty key', { '': 'x' }],
    ['a long key', { ['k'.repeat(41)]: 'x' }],
    ['a key in brackets', { 'a[b]': 'x' }],
    ['an empty value', { a: '' }],
    ['a long value', { a: 'x'.repeat(501) }],
    ['a number', { a: 1 as unknown as string }],
    ['too many keys', many(31)],
  ])('rejects %s immediately', async (_what, given) => {
    const { user } = await start('stripe')
    const builder = user.newSubscription('main', 'monthly')
    expect(() => builder.withMetadata(given)).toThrow(InvalidArgument)
  })

  it('accepts metadata of the maximum size', async () => {
    const { user } = await start('stripe')
    const all = { ...many(29), ['k'.repeat(40)]: '"'.repeat(500) }
    const made = await user.newSubscription('main', 'monthly').withMetadata(all).create(CARD)
    expect(await made.metadata()).toEqual(all)
  })

  it("adds the metadata to a hosted page, where the page's own `metadata` option takes precedence", async () => {
    const test = await start('stripe')
    const { user, sandbox } = test
    const page = await user
      .newSubscription('main', 'monthly')
      .withMetadata(GIVEN)
      .checkout({ successPath: '/done', metadata: { order: '8', coupon: 'typed' } })
    sandbox.stripe.completeCheckout(page.id)
    const { subscription } = await user.completeCheckout(page.id)
    expect(await subscription?.metadata()).toEqual({ ...GIVEN, order: '8' })
    const { checkout } = await stripeSdk(test)
    const { metadata } = await checkout.sessions.retrieve(page.id)
    expect(metadata).toMatchObject({ ...GIVEN, order: '8', coupon: 'typed' })
  })

  it('throws Unsupported for a user at Braintree, before any request', async () => {
    const test = await start('braintree')
    const builder = test.user.newSubscription('main', 'monthly').withMetadata(GIVEN)
    await expect(builder.create('fake-valid-visa-nonce')).rejects.toThrow(Unsupported)
    await expect(builder.preview()).rejects.toThrow(Unsupported)
    expect(test.sandbox.braintree.customers()).toHaveLength(0)
  })
})

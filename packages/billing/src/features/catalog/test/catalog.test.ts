import { describe, expect, it } from 'vitest'
import { PROVIDERS, start, stripeSdk } from '../../../../test/support.ts'
import type { CatalogOptions, CatalogPage } from '../../../index.ts'

/** Reads all pages of a list. */
async function readAll<Entry>(
  list: (options: CatalogOptions) => Promise<CatalogPage<Entry>>,
  options: CatalogOptions,
): Promise<Entry[]> {
  const found: Entry[] = []
  let page = await list(options)
  found.push(...page.entries)
  while (page.next !== null) {
    page = await list({ ...options, after: page.next })
    found.push(...page.entries)
  }
  return found
}

describe.each(PROVIDERS)('the catalog of $provider', ({ provider }) => {
  it('contains the prices with amount, currency and interval, page by page', async () => {
    const { billing, sandbox } = await start(provider, { webhooks: false })
    sandbox.stripe.seedPrice({ id: 'weekly', unitAmount: 300, interval: 'week', product: 'Gold' })
    const { catalog } = billing
    const whole = await catalog.prices({ provider })
    expect(whole.next).toBeNull()
    expect(whole.entries).toContainEqual(
      expect.objectContaining({
        id: 'monthly',
        amount: { amount: 1000, currency: 'usd' },
        period: { unit: 'month', count: 1 },
        trialDays: null,
      }),
    )
    const week = expect.objectContaining({ id: 'weekly', period: { unit: 'week', count: 1 } })
    if (provider === 'stripe') expect(whole.entries).toContainEqual(week)
    expect(await readAll(catalog.prices, { provider, limit: 1 })).toEqual(whole.entries)
  })

  it('rejects an invalid limit or cursor, and a cursor whose entry no longer exists, and says what to do', async () => {
    const { billing } = await start(provider, { webhooks: false })
    for (const [wrong, text] of [
      [{ limit: 0 }, '0'],
      [{ limit: 101 }, 'limit is 101; expected at most 100'],
      [{ after: '' }, "expected the 'next' of an earlier page"],
      [{ after: 'gone' }, 'begin with the first page'],
    ] as const) {
      await expect(billing.catalog.prices({ provider, ...wrong })).rejects.toMatchObject({
        code: 'invalid_argument',
        message: expect.stringContaining(text),
      })
    }
  })
})

describe('the catalog', () => {
  it('contains coupons and promotion codes in their current state at Stripe', async () => {
    const test = await start('stripe', { webhooks: false })
    const stripe = await stripeSdk(test)
    const { catalog } = test.billing
    const read = async () => ({
      coupons: await readAll(catalog.coupons, { provider: 'stripe', limit: 1 }),
      codes: await readAll(catalog.promotionCodes, { provider: 'stripe', limit: 1 }),
    })
    expect(await read()).toEqual({ coupons: [], codes: [] })
    await stripe.coupons.create({ id: 'HALF', percent_off: 50, duration: 'forever', name: 'Half' })
    await stripe.coupons.create({
      id: 'THREE',
      amount_off: 300,
      currency: 'usd',
      duration: 'repeating',
      duration_in_months: 3,
    })
    const expires = Math.floor(test.sandbox.clock.now().getTime() / 1000) + 86_400
    const promotion = { type: 'coupon', coupon: 'HALF' } as const
    const limited = await stripe.promotionCodes.create({
      code: 'SPRING',
      promotion,
      max_redemptions: 5,
      expires_at: expires,
    })
    const off = await stripe.promotionCodes.create({ code: 'OFF', promotion, active: false })
    const { coupons, codes } = await read()
    expect(new Set(coupons)).toEqual(
      new Set([
        {
          id: 'HALF',
          name: 'Half',
          percentOff: 50,
          amountOff: null,
          lasts: 'forever',
          isValid: true,
        },
        {
          id: 'THREE',
          name: null,
          percentOff: null,
          amountOff: { amount: 300, currency: 'usd' },
          lasts: 3,
          isValid: true,
        },
      ]),
    )
    const code = { coupon: 'HALF', isActive: true, expiresAt: null, left: null }
    expect(codes).toEqual([
      { ...code, id: off.id, code: 'OFF', isActive: false },
      { ...code, id: limited.id, code: 'SPRING', expiresAt: new Date(expires * 1000), left: 5 },
    ])
    await stripe.coupons.del('HALF')
    expect((await read()).coupons.map(({ id }) => id)).toEqual(['THREE'])
  })

  it('contains discounts and no promotion codes at Braintree', async () => {
    const { billing } = await start('braintree', { webhooks: false })
    const provider = 'braintree'
    expect(await readAll(billing.catalog.coupons, { provider, limit: 1 })).toContainEqual(
      expect.objectContaining({ id: 'SPRING', amountOff: { amount: 300, currency: 'usd' } }),
    )
    const none = { entries: [], next: null }
    expect(await billing.catalog.promotionCodes({ provider })).toEqual(none)
  })

  it('rejects a provider that is not configured', async () => {
    const { another } = await start('stripe', { webhooks: false })
    const billing = another({ braintree: undefined } as object)
    await expect(billing.catalog.prices({ provider: 'braintree' })).rejects.toMatchObject({
      code: 'invalid_argument',
    })
  })
})

import { describe, expect, it } from 'vitest'
import {
  countProviderCustomers,
  PROVIDERS,
  START,
  start,
  stripeSdk,
  sumChargedCents,
} from '../../../../test/support.ts'
import { formatMoney, type UpcomingInvoice } from '../../../index.ts'

const DAY = 86_400_000
/** The end of a month that starts at START. Braintree counts in days. */
const RENEWAL = { stripe: '2026-02-15T10:00:00.000Z', braintree: '2026-02-15T00:00:00.000Z' }

/** Formats a preview for comparison. */
function format(upcoming: UpcomingInvoice | null) {
  if (!upcoming) return null
  const { date, total, lines, includedTax } = upcoming
  return {
    date: date.toISOString(),
    total: formatMoney(total),
    lines: lines.map(({ kind, amount }) => `${kind} ${formatMoney(amount)}`),
    includedTax: formatMoney(includedTax),
  }
}

describe.each(PROVIDERS)('the upcoming invoice at $provider', ({ provider, card }) => {
  const isStripe = provider === 'stripe'

  it('contains the plan, the discount and the tax, and is due at the end of the period', async () => {
    const { user } = await start(provider, { coupon: true, taxPercentage: () => 20 })
    const subscription = await user
      .newSubscription('main', 'monthly')
      .withCoupon('SPRING')
      .create(card)
    // At Stripe the coupon applies to one invoice, at Braintree to two: 10.00 − 3.00, and 20 % of
    // that.
    expect(format(await subscription.upcomingInvoice())).toEqual(
      isStripe
        ? {
            date: RENEWAL.stripe,
            total: '$12.00',
            lines: ['item $10.00', 'tax $2.00'],
            includedTax: '$0.00',
          }
        : {
            date: RENEWAL.braintree,
            total: '$8.40',
            lines: ['item $12.00', 'discount -$3.60'],
            includedTax: '$1.40',
          },
    )
  })

  it('is null after a cancellation, and exists again after resume()', async () => {
    const { user, sandbox } = await start(provider)
    const subscription = await user.newSubscription('main', 'monthly').create(card)
    await subscription.cancel()
    expect(await subscription.upcomingInvoice()).toBeNull()
    await subscription.resume()
    expect((await subscription.upcomingInvoice())?.total.amount).toBe(1000)
    await subscription.cancelNow()
    expect(await subscription.upcomingInvoice()).toBeNull()
    await sandbox.clock.advance({ days: 40 })
    expect(await user.upcomingInvoice()).toBeNull()
  })

  it('is due at the end of a running trial', async () => {
    const { user } = await start(provider)
    const subscription = await user.newSubscription('main', 'monthly').trialDays(9).create(card)
    const upcoming = await subscription.upcomingInvoice()
    expect(upcoming?.total.amount).toBe(1000)
    expect(upcoming?.date).toEqual(subscription.trialEndsAt)
    await subscription.cancel()
    expect(await subscription.upcomingInvoice()).toBeNull()
  })

  it('is the earliest upcoming invoice of all subscriptions, or the upcoming invoice of the subscription with the given name', async () => {
    const { user } = await start(provider)
    expect(await user.upcomingInvoice()).toBeNull()
    await user.newSubscription('main', 'yearly').create(card)
    await user.newSubscription('extra', 'monthly').create()
    const extra = await user.upcomingInvoice('extra')
    expect(extra?.date.toISOString()).toBe(RENEWAL[provider as keyof typeof RENEWAL])
    expect(await user.upcomingInvoice()).toEqual(extra)
    expect((await user.upcomingInvoice('main'))?.date.getUTCFullYear()).toBe(2027)
    expect(await user.upcomingInvoice('none')).toBeNull()
  })

  it('includes past due amounts if the provider charges them with the next period', async () => {
    const test = await start(provider)
    const { user, sandbox } = test
    await user.newSubscription('main', 'monthly').create(card)
    const code = isStripe ? 'insufficient_funds' : '2001'
    sandbox.trouble.declineNextCharge(user.providerId ?? '', code)
    await test.advance({ months: 1, hours: 2 })
    const late = await user.subscription('main')
    expect(late.pastDue()).toBe(true)
    // Stripe retries the old invoice by itself; Braintree adds the debt to the next cycle.
    expect((await late.upcomingInvoice())?.total.amount).toBe(isStripe ? 1000 : 2000)
  })

  it('is previewed without side effects', async () => {
    const test = await start(provider)
    const { user } = test
    await user.newSubscription('main', 'monthly').create(card)
    const before = sumChargedCents(test, user)
    const invoices = await user.invoicesIncludingPending()
    await user.upcomingInvoice()
    await user.newSubscription('other', 'yearly').preview()
    expect(sumChargedCents(test, user)).toBe(before)
    expect(await user.invoicesIncludingPending()).toHaveLength(invoices.length)
    expect(await user.subscriptions()).toHaveLength(1)
  })
})

describe.each(PROVIDERS)('the previewed invoices of a new subscription at $provider', (given) => {
  const { provider } = given
  const isStripe = provider === 'stripe'

  it('can be requested before the user is a customer', async () => {
    const test = await start(provider, { coupon: true, taxPercentage: () => 20 })
    const builder = test.user.newSubscription('main', 'monthly').withCoupon('SPRING')
    const { now, next } = await builder.preview()
    expect(countProviderCustomers(test, provider)).toBe(0)
    expect(test.user.providerId).toBeNull()
    expect(format(now)).toEqual({
      date: START.toISOString(),
      total: '$8.40',
      lines: isStripe
        ? ['item $10.00', 'discount -$3.00', 'tax $1.40']
        : ['item $12.00', 'discount -$3.60'],
      includedTax: isStripe ? '$0.00' : '$1.40',
    })
    expect(format(next)?.total).toBe(isStripe ? '$12.00' : '$8.40')
    expect(format(next)?.date).toBe(RENEWAL[provider as keyof typeof RENEWAL])
  })

  it('can be requested for another provider, for a page where people choose the provider', async () => {
    const other = isStripe ? 'braintree' : 'stripe'
    const { user } = await start(provider)
    const { now } = await user.newSubscription('main', 'monthly').preview({}, { provider: other })
    expect(now.total.amount).toBe(1000)
    expect(now.lines.map(({ description }) => description)).toEqual(
      isStripe ? ['monthly'] : ['1 × Gold (at $10.00 / month)'],
    )
    expect(user.provider).toBe(provider)
  })

  it('show, for a subscription with a trial, that nothing is due now, and the price after the trial', async () => {
    const { user } = await start(provider)
    const { now, next } = await user.newSubscription('main', 'monthly').trialDays(9).preview()
    expect(now.total.amount).toBe(0)
    expect(next?.total.amount).toBe(1000)
    expect(next?.date).toEqual(
      new Date(isStripe ? START.getTime() + 9 * DAY : '2026-01-24T00:00:00Z'),
    )
  })

  it('are refused for unknown prices and coupons, and for quantities if the provider has none', async () => {
    const { user } = await start(provider)
    const of = (plan: string) => user.newSubscription('main', plan)
    await expect(of('none').preview()).rejects.toMatchObject({ code: 'unknown_price' })
    const coupon = of('monthly').withCoupon('NONE')
    await expect(coupon.preview()).rejects.toMatchObject({ code: 'unknown_coupon' })
    const several = of('monthly').quantity(3)
    if (isStripe) expect((await several.preview()).now.total.amount).toBe(3000)
    else await expect(several.preview()).rejects.toMatchObject({ code: 'unsupported' })
  })
})

describe('previews of invoices at Stripe', () => {
  it('show a pending proration on the last invoice of a cancelled subscription', async () => {
    const test = await start('stripe')
    const { user, sandbox } = test
    const created = await user.newSubscription('main', 'monthly').create('pm_card_visa')
    await sandbox.clock.advance({ days: 10 })
    const subscription = await created.swap('pro')
    await subscription.cancel()
    const last = await subscription.upcomingInvoice()
    expect(last?.total.amount).toBeGreaterThan(0)
    expect(last?.lines.every(({ kind }) => kind === 'proration')).toBe(true)
    expect(last?.date).toEqual(subscription.endsAt)
    const before = sumChargedCents(test, user)
    await sandbox.clock.advance({ days: 30 })
    expect(sumChargedCents(test, user) - before).toBe(last?.total.amount)
  })

  it('are null before the first payment, and while the subscription is paused', async () => {
    const test = await start('stripe')
    const { user } = test
    const stripe = await stripeSdk(test)
    await user
      .newSubscription('other', 'monthly')
      .create('pm_card_chargeCustomerFail')
      .catch(() => null)
    expect(await user.upcomingInvoice('other')).toBeNull()
    const subscription = await user.newSubscription('main', 'monthly').create('pm_card_visa')
    const pause = (resumes_at?: number) =>
      stripe.subscriptions.update(subscription.providerId, {
        pause_collection: { behavior: 'void', ...(resumes_at ? { resumes_at } : {}) },
      })
    await pause()
    expect(await subscription.upcomingInvoice()).toBeNull()
    await pause(Math.floor(START.getTime() / 1000) + 86_400)
    expect((await subscription.upcomingInvoice())?.total.amount).toBe(1000)
  })

  it('move amounts that are too small to charge to the next invoice', async () => {
    const test = await start('stripe')
    const { user, sandbox } = test
    const subscription = await user.newSubscription('main', 'monthly').create('pm_card_visa')
    await user.creditBalance({ amount: 970, currency: 'usd' })
    const upcoming = await subscription.upcomingInvoice()
    expect(upcoming?.total.amount).toBe(0)
    expect(upcoming?.lines.map(({ amount }) => amount.amount)).toEqual([1000, -1000])
    const before = sumChargedCents(test, user)
    await sandbox.clock.advance({ days: 32 })
    expect(sumChargedCents(test, user)).toBe(before)
    expect((await subscription.upcomingInvoice())?.total.amount).toBe(1030)
  })

  it('equal the charges of subscriptions with an anchor date, a free start or a backdated start', async () => {
    const first = new Date('2026-02-01T00:00:00Z')
    const past = new Date('2025-12-15T10:00:00Z')
    for (const how of ['share', 'free', 'past'] as const) {
      const test = await start('stripe')
      const { user, sandbox } = test
      const plan = user.newSubscription('main', 'monthly')
      const builder = {
        share: plan.anchorOn(first),
        free: plan.anchorOn(first).noProrate(),
        past: plan.backdate(past),
      }[how]
      const { now, next } = await builder.preview()
      await builder.create('pm_card_visa')
      expect(sumChargedCents(test, user), how).toBe(now.total.amount)
      expect([now.total.amount > 0, next?.total.amount], how).toEqual([how !== 'free', 1000])
      await sandbox.clock.advanceTo(new Date((next?.date.getTime() ?? 0) + 7_200_000))
      expect(sumChargedCents(test, user), how).toBe(now.total.amount + 1000)
    }
  })

  it('are refused for an invalid promotion code, and nothing is created', async () => {
    const { user } = await start('stripe')
    const builder = user.newSubscription('main', 'monthly').withPromotionCode('GUESS')
    await expect(builder.preview()).rejects.toMatchObject({ code: 'promotion_code_refused' })
  })
})

import { describe, expect, it } from 'vitest'
import { PROVIDERS, start } from '../../../../test/support.ts'
import { PaymentActionRequired, PaymentFailed } from '../../../index.ts'

const DAY = 86_400_000

describe.each(PROVIDERS)('a running subscription at $provider', ({ provider, card }) => {
  it('reports the date of the next invoice, or the date on which a trial or a cancelled subscription ends', async () => {
    const { user } = await start(provider)
    const subscription = await user.newSubscription('main', 'monthly').trialDays(14).create(card)
    const trialEnd = await subscription.periodEndsAt()
    expect(trialEnd).toEqual(subscription.trialEndsAt)
    const other = await user.newSubscription('other', 'monthly').create(card)
    const next = await other.periodEndsAt()
    expect(next?.toISOString().slice(0, 10)).toBe('2026-02-15')
    await other.cancel()
    expect(Math.abs((other.endsAt?.getTime() ?? 0) - (next?.getTime() ?? 0))).toBeLessThan(DAY)
  })

  it('is past due while the provider retries a failed payment, and no longer once a retry succeeds', async () => {
    const { user, sandbox, ...test } = await start(provider)
    await user.newSubscription('main', 'monthly').create(card)
    const code = provider === 'stripe' ? 'insufficient_funds' : '2001'
    sandbox.trouble.declineNextCharge(user.providerId ?? '', code)
    await test.advance({ months: 1, hours: 2 })
    const late = await user.subscription('main')
    expect(late.pastDue()).toBe(true)
    expect(late.valid()).toBe(true)
    await expect(late.requirePaid()).rejects.toThrow(PaymentFailed)
    await test.advance({ days: 4 })
    const paid = await user.subscription('main')
    expect(paid.pastDue()).toBe(false)
    await paid.requirePaid()
  })

  it('has the same total in each preview of a swap with the same prorationDate', async () => {
    const { user, ...test } = await start(provider)
    const subscription = await user.newSubscription('main', 'monthly').create(card)
    await test.advance({ days: 7 })
    const { prorationDate, total } = await subscription.previewSwap('pro')
    await test.advance({ hours: 9 })
    expect((await subscription.previewSwap('pro', { prorationDate })).total).toEqual(total)
  })
})

describe.each(PROVIDERS)('a cancelled subscription at $provider', ({ provider, card }) => {
  it('can be used in previewSwap(), because a swap would resume it', async () => {
    const { user, ...test } = await start(provider)
    const subscription = await user.newSubscription('main', 'pro').create(card)
    await test.advance({ days: 3 })
    const running = await subscription.previewSwap('monthly')
    await subscription.cancel()
    expect((await subscription.previewSwap('monthly')).total).toEqual(running.total)
    expect((await user.subscription('main')).cancelled()).toBe(true)
  })
})

describe('a payment that the customer must confirm', () => {
  it('makes requirePaid() throw until it is confirmed', async () => {
    const { user, sandbox, ...test } = await start('stripe')
    const asked = await user
      .newSubscription('main', 'monthly')
      .create('pm_card_authenticationRequired')
      .catch((error: unknown) => error)
    expect(asked).toBeInstanceOf(PaymentActionRequired)
    const subscription = await user.subscription('main')
    const again = await subscription.requirePaid().catch((error: unknown) => error)
    expect(again).toMatchObject({ payment: (asked as PaymentActionRequired).payment })
    sandbox.stripe.completeAuthentication((asked as PaymentActionRequired).payment.id)
    await subscription.requirePaid()
    await test.settle()
    expect(await user.subscribed('main')).toBe(true)
  })

  it('leaves no open invoice once the deadline for the confirmation has passed', async () => {
    const { user, ...test } = await start('stripe')
    await user
      .newSubscription('main', 'monthly')
      .create('pm_card_authenticationRequired')
      .catch(() => undefined)
    expect(await user.invoicesIncludingPending()).toMatchObject([{ paid: false }])
    await test.advance({ hours: 24 })
    expect((await user.subscription('main')).ended()).toBe(true)
    expect(await user.invoicesIncludingPending()).toEqual([])
  })
})

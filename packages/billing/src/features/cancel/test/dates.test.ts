import { describe, expect, it } from 'vitest'
import { START, start, stripeSdk, sumChargedCents } from '../../../../test/support.ts'
import { InvalidArgument, PaymentFailed, Unsupported } from '../../../index.ts'

const CARD = 'pm_card_visa'
const day = (days: number) => new Date(START.getTime() + days * 86_400_000)

async function startTrial() {
  const test = await start('stripe', { webhooks: false })
  const made = await test.user.newSubscription('main', 'monthly').trialDays(9).create(CARD)
  return { ...test, made }
}

describe('cancelAt()', () => {
  it('ends the subscription on the given date, and lets it renew until then', async () => {
    const test = await start('stripe')
    const { user } = test
    const made = await user.newSubscription('main', 'monthly').create(CARD)
    const { endsAt } = await made.noProrate().cancelAt(day(70))
    expect(endsAt).toEqual(day(70))
    expect((await user.subscription('main')).onGracePeriod()).toBe(true)
    await (await user.subscription('main')).noProrate().cancelAt(day(70))
    // The last period, from 15 March, is billed for 11 of its 31 days.
    const taken = 2 * 1000 + Math.round((1000 * 11) / 31)
    await test.advance({ days: 69 })
    expect([await user.subscribed('main'), sumChargedCents(test, user)]).toEqual([true, taken])
    await test.advance({ days: 2 })
    expect([await user.subscribed('main'), sumChargedCents(test, user)]).toEqual([false, taken])
  })

  it('sets an end date, which resume() removes and cancel() replaces with the end of the period', async () => {
    const test = await start('stripe', { webhooks: false })
    const made = await test.user.newSubscription('main', 'monthly').create(CARD)
    const periodEnd = await made.periodEndsAt()
    const later = await made.noProrate().cancelAt(day(70))
    expect((await later.cancel()).endsAt).toEqual(periodEnd)
    expect((await later.cancel()).endsAt).toEqual(periodEnd)
    expect((await later.resume()).endsAt).toBeNull()
    const sooner = await later.noProrate().cancelAt(day(3))
    expect((await sooner.cancel()).endsAt).toEqual(day(3))
    expect((await sooner.resume()).endsAt).toBeNull()
  })

  it('credits the paid time after the end date', async () => {
    const test = await start('stripe', { webhooks: false })
    const { user } = test
    const made = await user.newSubscription('main', 'monthly').create(CARD)
    await made.cancelAt(day(10))
    await test.sandbox.clock.advance({ days: 11 })
    // 21 of the 31 days from 15 January.
    expect((await user.balance()).amount).toBe(Math.round((1000 * 21) / 31))
  })

  it('sets the same end date as a cancellation in Stripe’s customer portal', async () => {
    const test = await start('stripe')
    const { user } = test
    const made = await user.newSubscription('main', 'monthly').create(CARD)
    const stripe = await stripeSdk(test)
    const periodEnd = (await made.periodEndsAt())?.getTime() ?? 0
    await stripe.subscriptions.update(made.providerId, { cancel_at: periodEnd / 1000 })
    await test.settle()
    const found = await user.subscription('main')
    expect([found.endsAt?.getTime(), found.onGracePeriod()]).toEqual([periodEnd, true])
    expect((await found.resume()).recurring()).toBe(true)
  })

  it('rejects dates that are invalid or not in the future', async () => {
    const { made } = await startTrial()
    for (const date of [START, day(-1), new Date('never'), '2027-01-01' as never]) {
      await expect(made.cancelAt(date)).rejects.toThrow(InvalidArgument)
      await expect(made.extendTrial(date)).rejects.toThrow(InvalidArgument)
    }
    await expect(made.extendTrial(day(800))).rejects.toThrow(InvalidArgument)
  })
})

describe('the end date of a trial', () => {
  it('can be moved to a later date by extendTrial(), and the first invoice is then created on that date', async () => {
    const test = await startTrial()
    const { user, made, sandbox } = test
    for (let i = 0; i < 2; i++)
      expect((await made.extendTrial(day(20))).trialEndsAt).toEqual(day(20))
    await sandbox.clock.advance({ days: 19 })
    expect(sumChargedCents(test, user)).toBe(0)
    expect((await made.extendTrial(day(25))).onTrial()).toBe(true)
    await sandbox.clock.advance({ days: 7 })
    expect(sumChargedCents(test, user)).toBe(1000)
    await expect(made.extendTrial(day(60))).rejects.toThrow(InvalidArgument)
  })

  it('can be changed to now by endTrial(), which charges once, and changes nothing if the card is declined', async () => {
    const test = await startTrial()
    const { user, made, sandbox } = test
    const { providerId } = await test.billing.user(user.id)
    sandbox.trouble.declineNextCharge(providerId ?? '', 'insufficient_funds')
    await expect(made.endTrial()).rejects.toThrow(PaymentFailed)
    expect((await user.subscription('main')).onTrial()).toBe(true)
    for (let i = 0; i < 2; i++) expect((await made.endTrial()).onTrial()).toBe(false)
    expect(sumChargedCents(test, user)).toBe(1000)
  })

  it('is set by trialUntil() when a subscription is created, unless skipTrial() follows', async () => {
    const test = await start('stripe', { webhooks: false })
    const { user } = test
    const builder = user.newSubscription('main', 'monthly')
    const made = await builder.trialUntil(day(12)).create(CARD)
    expect([made.trialEndsAt, sumChargedCents(test, user)]).toEqual([day(12), 0])
    const paid = await user.newSubscription('other', 'pro').trialUntil(day(12)).skipTrial().create()
    expect([paid.onTrial(), sumChargedCents(test, user)]).toEqual([false, 2500])
    await expect(builder.trialUntil(day(-1)).create(CARD)).rejects.toThrow(InvalidArgument)
  })

  it('cannot be set to a given date at Braintree', async () => {
    const { user } = await start('braintree', { webhooks: false })
    const builder = user.newSubscription('main', 'monthly').trialUntil(day(12))
    await expect(builder.create('fake-valid-visa-nonce')).rejects.toThrow(Unsupported)
    const made = await user
      .newSubscription('main', 'monthly')
      .skipTrial()
      .create('fake-valid-visa-nonce')
    expect(made.onTrial()).toBe(false)
  })
})

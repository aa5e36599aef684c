import { describe, expect, it } from 'vitest'
import {
  countProviderSubscriptions,
  type FlowTest,
  PROVIDERS,
  type ProviderCase,
  START,
  start,
  sumChargedCents,
} from '../../../../test/support.ts'
import {
  type BillableUser,
  InvalidArgument,
  PaymentActionRequired,
  TrialUsed,
} from '../../../index.ts'

const day = (days: number) => new Date(START.getTime() + days * 86_400_000)
const ONCE = { webhooks: false, trials: { oncePerOwner: true } } as const
const PAGE = { successPath: '/done' }

const trial = (user: BillableUser, name = 'main') =>
  user.newSubscription(name, 'monthly').trialDays(9)

const codeOf = (asked: Promise<unknown>) =>
  asked.then(
    () => 'done',
    (error: { code?: string }) => error.code,
  )

describe.each(PROVIDERS)('one trial per owner at $provider', ({ provider, card }) => {
  it('allows one trial under any subscription name, and rejects a second one without a charge', async () => {
    const test = await start(provider, ONCE)
    const { user } = test
    expect(await user.hadTrial()).toBe(false)
    const made = await trial(user).create(card)
    expect(await user.hadTrial()).toBe(true)
    expect((await trial(user).create(card)).providerId).toBe(made.providerId)
    await expect(trial(user, 'other').create(card)).rejects.toThrow(TrialUsed)
    await made.cancelNow()
    await expect(trial(user).create(card)).rejects.toThrow(TrialUsed)
    await expect(trial(user).preview()).rejects.toThrow(TrialUsed)
    expect((await trial(user).skipTrial().preview()).now.total.amount).toBe(1000)
    expect([sumChargedCents(test, user), countProviderSubscriptions(test, user)]).toEqual([0, 1])
    const paid = await trial(user).skipTrial().create()
    expect([paid.onTrial(), sumChargedCents(test, user)]).toEqual([false, 1000])
  })

  it('allows only one trial if processes start trials concurrently', async () => {
    const test = await start(provider, ONCE)
    await test.user.updateCard(card)
    const others = [test.billing, test.another({}), test.another({})]
    const asked = others.map(async (billing, at) =>
      trial(await billing.user(test.user.id), `plan-${at}`).create(),
    )
    const codes = await Promise.all(asked.map(codeOf))
    expect(codes.sort()).toEqual(['done', 'trial_used', 'trial_used'])
    expect(countProviderSubscriptions(test, await test.billing.user(test.user.id))).toBe(1)
  })

  it('counts a generic trial of the user, which can be extended or shortened while it runs', async () => {
    const test = await start(provider, ONCE)
    const { user, sandbox } = test
    await user.startGenericTrial(day(5))
    await user.startGenericTrial(day(7))
    await expect(trial(user).create(card)).rejects.toThrow(TrialUsed)
    expect(await user.onTrial()).toBe(true)
    await user.startGenericTrial(null)
    expect([await user.onTrial(), await user.hadTrial()]).toEqual([false, true])
    await user.startGenericTrial(null)
    await sandbox.clock.advance({ days: 1 })
    await expect(user.startGenericTrial(day(9))).rejects.toThrow(TrialUsed)
    await expect(user.startGenericTrial(new Date('never'))).rejects.toThrow(InvalidArgument)
    const other = await test.createUser()
    await trial(other).create(provider === 'stripe' ? card : sandbox.braintree.createNonce())
    await expect(other.startGenericTrial(day(9))).rejects.toThrow(TrialUsed)
  })

  it('is not enforced unless the `trials.oncePerOwner` option is set', async () => {
    const test = await start(provider, { webhooks: false })
    const { user } = test
    await trial(user, 'one').create(card)
    await trial(user, 'two').create()
    await user.startGenericTrial(day(5))
    await user.startGenericTrial(null)
    expect(user.trialEndsAt).toBeNull()
    expect(await user.hadTrial()).toBe(true)
  })
})

describe('one trial per owner with hosted pages', () => {
  const stripe = PROVIDERS[0] as ProviderCase
  const finish = async (test: FlowTest, id: string) => {
    test.sandbox.stripe.completeCheckout(id)
    await test.user.completeCheckout(id)
  }

  it('allows the trial on one of several open pages, and expires the others', async () => {
    const test = await start('stripe', ONCE)
    const { user } = test
    const first = await trial(user, 'one').checkout(PAGE)
    expect((await trial(user, 'one').checkout(PAGE)).id).toBe(first.id)
    const second = await user.checkout('monthly', { ...PAGE, name: 'two', trialUntil: day(9) })
    expect(() => test.sandbox.stripe.completeCheckout(first.id)).toThrow('expired')
    await finish(test, second.id)
    expect(await user.onTrial('two')).toBe(true)
    const third = { ...PAGE, name: 'three', trialDays: 3, withoutCard: true }
    await expect(user.checkout('monthly', third)).rejects.toThrow(TrialUsed)
    await expect(trial(user, 'three').create()).rejects.toThrow(TrialUsed)
  })

  it('allows the trial either on the page or through create(), whichever comes first', async () => {
    const test = await start('stripe', ONCE)
    const { user } = test
    const page = await trial(user, 'page').checkout(PAGE)
    const made = await trial(user, 'call').withoutCard().create()
    expect(made.onTrial()).toBe(true)
    expect(() => test.sandbox.stripe.completeCheckout(page.id)).toThrow('expired')

    const other = await test.createUser()
    const { id } = await trial(other, 'page').checkout(PAGE)
    // The customer has not returned from the page, and no webhook has arrived.
    test.sandbox.stripe.completeCheckout(id)
    const late = trial(other, 'call').withoutCard().create()
    await expect(late).rejects.toThrow(TrialUsed)
    expect(await other.onTrial('page')).toBe(true)
  })

  it('does not expire pages without a trial', async () => {
    const test = await start('stripe', ONCE)
    const { user } = test
    const { id } = await user.newSubscription('paid', 'pro').checkout(PAGE)
    await trial(user).create(stripe.card)
    await finish(test, id)
    expect(sumChargedCents(test, user)).toBe(2500)
  })

  it('does not count a subscription whose first payment never arrived', async () => {
    const test = await start('stripe', ONCE)
    const { user } = test
    const asked = user.newSubscription('main', 'monthly').create('pm_card_threeDSecureRequired')
    await expect(asked).rejects.toThrow(PaymentActionRequired)
    expect(await user.hadTrial()).toBe(false)
    const made = await trial(user).create(stripe.card)
    expect([made.onTrial(), sumChargedCents(test, user)]).toEqual([true, 0])
  })
})

import { describe, expect, it } from 'vitest'
import { loseResponse } from '../../../../test/lost-answers.ts'
import { type FlowTest, PROVIDERS, start, sumChargedCents } from '../../../../test/support.ts'
import type { BillingOptions } from '../../../index.ts'
import { openDispute } from './dispute.ts'

type Access = NonNullable<NonNullable<BillingOptions['disputes']>['access']>
type Outcome = 'open' | 'won' | 'lost'

/** Whether the subscription gives access, by policy and outcome of the dispute. */
const TABLE: readonly (readonly [Access, Readonly<Record<Outcome, boolean>>])[] = [
  ['keep', { open: true, won: true, lost: true }],
  ['suspend', { open: false, won: true, lost: true }],
  ['end', { open: true, won: true, lost: false }],
]

const disputesOf = ({ database }: FlowTest) =>
  database.kysely.selectFrom('billing_disputes').selectAll().orderBy('opened_at').execute()

describe.each(PROVIDERS)('a dispute of a payment at $provider', ({ provider, card }) => {
  const begin = async (access: Access) => {
    const test = await start(provider, { disputes: { access } })
    await test.user.newSubscription('main', 'monthly').create(card)
    return test
  }

  it.each(TABLE)(
    'changes only the access of the disputed subscription, as configured by disputes.access: %s',
    async (access, opens) => {
      const test = await begin(access)
      const { user, billing, settle } = test
      const friend = await test.createUser()
      const other = provider === 'stripe' ? card : test.sandbox.braintree.createNonce()
      await friend.newSubscription('main', 'monthly').create(other)
      const at = test.sandbox.clock.now()
      for (const outcome of ['won', 'lost'] as const) {
        const decide = openDispute(test, user)
        await settle()
        const disputed = await user.subscription('main')
        expect(await user.subscribed('main')).toBe(opens.open)
        expect(disputed.valid()).toBe(opens.open)
        expect(disputed.suspended()).toBe(access === 'suspend')
        expect(disputed.disputedAt).not.toBeNull()
        expect([disputed.incomplete(), disputed.ended(), disputed.cancelled()]).toEqual([
          false,
          false,
          false,
        ])
        expect(await billing.countActive(at)).toBe(opens.open ? 2 : 1)
        decide(outcome)
        await settle()
        const decided = await user.subscription('main')
        expect(decided.valid()).toBe(opens[outcome])
        expect([decided.disputedAt, decided.suspended()]).toEqual([null, false])
        expect(decided.ended()).toBe(!opens[outcome])
        expect(await friend.subscribed('main')).toBe(true)
        if (outcome === 'won') await test.advance({ months: 1, days: 2 })
      }
      expect(await disputesOf(test)).toMatchObject([
        { provider, owner_type: 'user', status: 'won', amount: 1000, currency: 'usd' },
        { provider, owner_type: 'user', status: 'lost', amount: 1000, currency: 'usd' },
      ])
      await test.advance({ months: 1, days: 2 })
      expect(sumChargedCents(test, user)).toBe(access === 'end' ? 2000 : 3000)
    },
  )

  it.each(TABLE)(
    'is stored in its latest state, even if a webhook reports an older one (disputes.access: %s)',
    async (access, opens) => {
      const test = await begin(access)
      const { user, settle } = test
      const decide = openDispute(test, user)
      decide('lost')
      await settle()
      expect(await user.subscribed('main')).toBe(opens.lost)
      expect(await disputesOf(test)).toMatchObject([{ status: 'lost' }])
    },
  )

  it('stays recorded when the subscription changes in other ways', async () => {
    const test = await begin('suspend')
    const { user } = test
    openDispute(test, user)
    await test.settle()
    const { disputedAt } = await user.subscription('main')
    const changed = await user.subscription('main')
    await changed.swap('pro')
    await test.settle()
    await changed.cancel()
    expect(changed.disputedAt).toEqual(disputedAt)
    expect([changed.valid(), changed.suspended()]).toEqual([false, true])
    await user.sync()
    expect((await user.subscription('main')).disputedAt).toEqual(disputedAt)
  })

  it('ends the subscription exactly once if the merchant loses, even if a response of the provider is lost', async () => {
    const test = await start(provider, { disputes: { access: 'end' } })
    let wasHit = true
    for (let call = 0; wasHit && call < 12; call++) {
      const user = await test.createUser()
      const token = provider === 'stripe' ? card : test.sandbox.braintree.createNonce()
      await user.newSubscription('main', 'monthly').create(token)
      const decide = openDispute(test, user)
      await test.settle()
      loseResponse(test, provider, { after: call, how: 'half-written' })
      decide('lost')
      await test.settle()
      wasHit = test.sandbox.trouble.takeCallTrouble(provider) === null
      test.sandbox.trouble.clear()
      await test.advance({ minutes: 2 })
      expect((await user.subscription('main')).ended(), `call ${call}`).toBe(true)
      expect(await test.billing.webhooks.pending()).toEqual([])
    }
    expect(wasHit).toBe(false)
  })

  it('applies to the subscription that replaces the disputed one in a swap', async () => {
    const test = await begin('suspend')
    const { user, settle } = test
    const decide = openDispute(test, user)
    await settle()
    await (await user.subscription('main')).swap('yearly')
    const swapped = await user.subscription('main')
    expect([swapped.providerPlan, swapped.suspended(), await user.subscribed('main')]).toEqual([
      'yearly',
      true,
      false,
    ])
    await test.billing.sync()
    expect(await user.subscribed('main')).toBe(false)
    decide('won')
    await settle()
    expect(await user.subscribed('main')).toBe(true)
  })

  it('ends the subscription that replaced the disputed one if the merchant loses', async () => {
    const test = await begin('end')
    const { user, settle } = test
    const decide = openDispute(test, user)
    await settle()
    await (await user.subscription('main')).swap('yearly')
    decide('lost')
    await settle()
    expect((await user.subscription('main')).ended()).toBe(true)
    const taken = sumChargedCents(test, user)
    await test.advance({ years: 1, days: 2 })
    expect(sumChargedCents(test, user)).toBe(taken)
  })

  it('is stored for a single charge, and does not affect any subscription', async () => {
    const test = await begin('suspend')
    const { user } = test
    await user.charge(provider === 'stripe' ? 500 : 5)
    await test.sandbox.clock.advance({ minutes: 1 })
    const decide = openDispute(test, user)
    await test.settle()
    expect(await disputesOf(test)).toMatchObject([{ subscription_id: null, status: 'open' }])
    expect(await user.subscribed('main')).toBe(true)
    decide('lost')
    await test.settle()
    expect(await disputesOf(test)).toMatchObject([{ subscription_id: null, status: 'lost' }])
  })
})

it('an inquiry of the bank about a charge does not affect the subscription', async () => {
  const test = await start('stripe', { disputes: { access: 'suspend' } })
  const { user, sandbox, settle } = test
  await user.newSubscription('main', 'monthly').create('pm_card_visa')
  const [charge] = sandbox.stripe.charges(user.providerId ?? '')
  sandbox.stripe.disputeCharge(String(charge?.id), { inquiry: true })
  await settle()
  expect(await disputesOf(test)).toMatchObject([{ status: 'inquiry' }])
  expect((await user.subscription('main')).disputedAt).toBeNull()
  expect(await user.subscribed('main')).toBe(true)
})

it('a dispute of a charge for usage at Braintree suspends the subscription with that usage', async () => {
  const metered = { calls: { unitAmount: 5 } }
  const test = await start('braintree', { disputes: { access: 'suspend' }, metered })
  const { user, billing, sandbox } = test
  const subscription = await user.newSubscription('main', 'monthly').create('fake-valid-visa-nonce')
  await user.reportUsage('calls', 10)
  await billing.process()
  await subscription.cancel()
  await test.advance({ months: 1, hours: 2 })
  await billing.process()
  expect(sumChargedCents(test, user)).toBe(1000 + 50)
  const other = await user.newSubscription('main', 'monthly').create()
  await other.reportUsage({ meter: 'calls', value: 20 })
  await test.advance({ months: 1, hours: 2 })
  await billing.process()
  const sales = sandbox.braintree.transactions(user.providerId ?? '')
  const ofUsage = sales.find(({ amount }) => amount === 100)
  sandbox.braintree.notify('dispute_opened', ofUsage?.id ?? '')
  await test.settle()
  const disputed = await user.subscription('main')
  expect([disputed.providerId, disputed.suspended()]).toEqual([other.providerId, true])
  expect(await disputesOf(test)).toMatchObject([{ amount: 100, subscription_id: other.id }])
})

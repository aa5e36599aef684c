import { startBilling } from '@tollgate/billing/testing'
import { createGate, type Gate, meter, plan, refreshPlans } from '@tollgate/gate'
import { afterEach, describe, expect, it } from 'vitest'
import { createTestDatabase } from '../../../test-support/create-test-database.ts'

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function start(provider: 'stripe' | 'braintree') {
  const { database, drop } = await createTestDatabase()
  closing.push(drop)
  let gate: Gate<'calls'>
  const test = await startBilling({
    database,
    defaultProvider: provider,
    on: refreshPlans(() => gate),
  })
  closing.push(() => test.close())
  const create = () => {
    const created = createGate({
      database,
      billing: test.billing,
      clock: test.sandbox.clock,
      meters: { calls: meter({ kind: 'count' }) },
      plans: {
        free: plan({ quota: { calls: '10/month' } }),
        basic: plan({ price: { stripe: 'monthly', braintree: 'monthly' } }),
        pro: plan({ price: { stripe: ['pro', 'yearly'], braintree: ['pro', 'yearly'] } }),
        metered: plan({
          price: { stripe: ['quarterly', 'halfyearly'], braintree: ['quarterly', 'halfyearly'] },
          quota: { calls: '10/period' },
        }),
      },
      otherwise: 'free',
    })
    closing.push(() => created.close())
    return created
  }
  gate = create()
  const card = provider === 'stripe' ? 'pm_card_visa' : 'fake-valid-nonce'
  return { ...test, gate, other: create(), card, subject: test.user.owner }
}

describe.each(['stripe', 'braintree'] as const)('a gate with subscriptions at %s', (provider) => {
  it('gives the owner the plan of its subscription, and takes the plan away when the subscription ends, on every gate', async () => {
    const { gate, other, user, card, subject } = await start(provider)
    expect(await other.planOf(subject)).toBe('free')
    const subscription = await user.newSubscription('main', 'monthly').create(card)
    await expect.poll(() => other.planOf(subject)).toBe('basic')
    await subscription.swap('pro')
    await expect.poll(() => other.planOf(subject)).toBe('pro')
    await expect.poll(() => gate.planOf(subject)).toBe('pro')
    await (await user.subscription('main'))?.cancelNow()
    await expect.poll(() => other.planOf(subject)).toBe('free')
  })

  it('keeps the plan of a canceled subscription until the paid period ends, and then takes it away without a webhook', async () => {
    const { other, user, card, subject, sandbox } = await start(provider)
    const subscription = await user.newSubscription('main', 'monthly').create(card)
    const { endsAt } = await subscription.cancel()
    await expect.poll(() => other.planOf(subject)).toBe('basic')
    await sandbox.clock.advance({ days: 40 })
    expect(sandbox.clock.now() > (endsAt ?? 0)).toBe(true)
    // No webhook is processed: the gate knows the end.
    await expect.poll(() => other.planOf(subject)).toBe('free')
  })

  it('gives OAuth clients that act for themselves the plan for subjects without a subscription', async () => {
    const { gate } = await start(provider)
    expect(await gate.planOf({ type: 'client', id: 'reports' })).toBe('free')
  })

  it('starts a quota over with each billing period, also before the renewal is announced', async () => {
    const { gate, billing, user, card, subject, advance, sandbox } = await start(provider)
    const before = sandbox.clock.now()
    await user.newSubscription('main', 'quarterly').create(card)
    await expect.poll(() => gate.planOf(subject)).toBe('metered')
    const period = await readPeriod(billing, subject)
    expect(period.startsAt <= sandbox.clock.now()).toBe(true)
    expect(months(before, period.endsAt)).toBe(3)
    expect(await useUp(gate, subject)).toBe(10)
    expect((await gate.admit(subject, 'calls')).resetsAt).toEqual(period.endsAt)
    await advance({ months: 2 })
    expect(await useUp(gate, subject)).toBe(0)
    // The renewal happens at the provider, but its webhook is not processed yet.
    await sandbox.clock.advance({ days: 32 })
    expect(await useUp(gate, subject)).toBe(10)
    await advance({ days: 1 })
    expect((await readPeriod(billing, subject)).startsAt).toEqual(period.endsAt)
    await gate.refresh(subject)
    expect(await useUp(gate, subject)).toBe(0)
  })

  it('gives a trial a quota of its own', async () => {
    const { gate, billing, user, card, subject, advance } = await start(provider)
    await user.newSubscription('main', 'quarterly').trialDays(14).create(card)
    await expect.poll(() => gate.planOf(subject)).toBe('metered')
    expect(await useUp(gate, subject)).toBe(10)
    const trial = await readPeriod(billing, subject)
    await advance({ days: 15 })
    await gate.refresh(subject)
    expect(await useUp(gate, subject)).toBe(10)
    expect((await readPeriod(billing, subject)).startsAt).toEqual(trial.endsAt)
  })

  it('grants no quota twice when a subscription is swapped back and forth', async () => {
    const { gate, user, card, subject, advance } = await start(provider)
    await user.newSubscription('main', 'quarterly').create(card)
    await expect.poll(() => gate.planOf(subject)).toBe('metered')
    expect(await useUp(gate, subject)).toBe(10)
    for (const price of ['halfyearly', 'quarterly']) {
      await advance({ days: 3 })
      await (await user.subscription('main'))?.swap(price)
      await advance({ days: 1 })
      await gate.refresh(subject)
      expect(await useUp(gate, subject)).toBe(0)
    }
  })
})

const readPeriod = async (
  billing: Awaited<ReturnType<typeof start>>['billing'],
  { type, id }: { readonly type: string; readonly id: string | number },
) => {
  const owner = await billing.findOwner(type, id)
  const period = (await owner?.subscription('main'))?.currentPeriod
  if (!period) throw new Error('The subscription has no period')
  return period
}

const months = (from: Date, to: Date) =>
  (to.getUTCFullYear() - from.getUTCFullYear()) * 12 + to.getUTCMonth() - from.getUTCMonth()

/** Admits until the gate refuses, and returns how many calls were admitted. */
async function useUp(gate: Gate<'calls'>, subject: { type: string; id: string | number }) {
  let admitted = 0
  while ((await gate.admit(subject, 'calls')).allowed) admitted += 1
  return admitted
}

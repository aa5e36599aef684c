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
})

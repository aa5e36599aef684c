import { describe, expect, it } from 'vitest'
import { type FlowTest, sumChargedCents } from '../../../../test/support.ts'
import type { AnyBillingEvent } from '../../../index.ts'
import { advanceToNextPeriod, startWithChargedUsage } from './charged.ts'

function listen() {
  const told: AnyBillingEvent[] = []
  const on = { 'usage.refused': (event: AnyBillingEvent) => void told.push(event) }
  return { told, on }
}

/** Another process, whose options no longer have a price for files. */
function withoutFiles({ sandbox, another }: FlowTest, on: ReturnType<typeof listen>['on']) {
  const { config } = sandbox.braintree
  return another({ on, braintree: { ...config, metered: { calls: { unitAmount: 5 } } } })
}

describe('usage at Braintree that cannot be charged', () => {
  it('is refused if its meter is no longer configured, and other usage is still charged', async () => {
    const { told, on } = listen()
    const test = await startWithChargedUsage()
    const { user, billing } = test
    await user.reportUsage('calls', 10)
    await user.reportUsage('files', 3, { id: 'f' })
    await billing.process()
    const other = withoutFiles(test, on)
    await test.sandbox.clock.advance({ months: 1 })
    await test.sandbox.clock.advance({ hours: 2 })
    await other.process()
    expect(sumChargedCents(test, user)).toBe(2000 + 50)
    const [refused] = await other.usage.refused()
    expect(refused).toMatchObject({ reference: 'f', meter: 'files' })
    expect(refused?.lastError).toMatch(/'files'.*'metered'/)
    await other.process()
    expect(told).toMatchObject([{ data: { usage: { id: 'f', meter: 'files', value: '3' } } }])
    const owed = await (await (await other.user(user.id)).subscription('main')).amountOwed()
    expect(owed).toEqual({ amount: 0, currency: 'usd' })
    // The price is configured again, and the report is retried.
    await billing.usage.retry(refused?.id ?? 0)
    await billing.process()
    expect(sumChargedCents(test, user)).toBe(2000 + 50 + 300)
    expect(await billing.usage.pending()).toEqual([])
  })

  it('does not count as owed, and other usage can be paid', async () => {
    const { on } = listen()
    const test = await startWithChargedUsage()
    const { user, billing, sandbox } = test
    await user.reportUsage('calls', 10)
    await user.reportUsage('files', 3)
    await sandbox.clock.advance({ months: 1 })
    sandbox.trouble.declineNextCharge(user.providerId ?? '', '2001')
    await sandbox.clock.advance({ hours: 2 })
    await billing.process()
    const subscription = await user.subscription('main')
    expect(await subscription.amountOwed()).toEqual({ amount: 350, currency: 'usd' })
    const other = withoutFiles(test, on)
    const there = await (await other.user(user.id)).subscription('main')
    expect(await there.amountOwed()).toEqual({ amount: 50, currency: 'usd' })
    await there.payNow()
    expect(sumChargedCents(test, user)).toBe(2000 + 50)
    expect(await other.usage.refused()).toMatchObject([{ meter: 'files' }])
    expect(await other.usage.pending()).toEqual([])
  })

  it.each<[string, RegExp, (test: FlowTest) => Promise<unknown>]>([
    [
      'of an owner whose row was deleted',
      /There is no user \d+ any more/,
      ({ database }) => database.kysely.deleteFrom('users').execute(),
    ],
    [
      'of a subscription whose row was deleted',
      /There is no such subscription any more/,
      ({ database }) => database.kysely.deleteFrom('subscriptions').execute(),
    ],
    [
      'of a user who is no longer a customer',
      /The user has no customer at braintree any more/,
      ({ database }) => database.kysely.updateTable('users').set({ provider_id: null }).execute(),
    ],
  ])('is refused, and emits usage.refused, if it is usage %s', async (_who, reason, vanish) => {
    const { told, on } = listen()
    const test = await startWithChargedUsage(undefined, { on })
    const { user, billing } = test
    await user.reportUsage('calls', 10, { id: 'a' })
    await user.reportUsage('files', 3, { id: 'b' })
    await billing.process()
    await vanish(test)
    await advanceToNextPeriod(test)
    await billing.process()
    expect(await billing.usage.pending()).toEqual([])
    const refused = await billing.usage.refused()
    expect(refused.map(({ reference }) => reference).sort()).toEqual(['a', 'b'])
    for (const { lastError } of refused) expect(lastError).toMatch(reason)
    expect(told).toHaveLength(2)
  })
})

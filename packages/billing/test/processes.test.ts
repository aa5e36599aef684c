import { describe, expect, it } from 'vitest'
import { startChild } from './child-process.ts'
import { subscriptionJob } from './killed/story.ts'
import { readSandboxState, readTableState } from './provider-truth.ts'
import {
  countProviderCustomers,
  countProviderSubscriptions,
  PROVIDERS,
  start,
  sumChargedCents,
} from './support.ts'

/** Timeout for tests with child processes, which start slowly on a busy machine. */
const SLOW = { timeout: 300_000 }

describe('several processes in which promotion codes are guessed', () => {
  it('have a common limit on the number of attempts', SLOW, async () => {
    const test = await start('stripe')
    const { id: userId } = test.user
    const processes = await Promise.all(
      [1, 2, 3, 4, 5].map(() => startChild(test, 'stripe', { lockLease: 15 })),
    )
    const begun = processes.map((each, at) =>
      each.begin({ job: 'guess', userId, codes: [1, 2, 3, 4].map((n) => `GUESS-${at}-${n}`) }),
    )
    const reports = await Promise.all(begun.map((each) => each.until('made')))
    const answers = reports.flatMap(({ made = [] }) => made).sort()
    expect(answers).toEqual([
      ...Array.from({ length: 10 }, () => 'asked'),
      ...Array.from({ length: 10 }, () => 'too_many_attempts'),
    ])
  })
})

describe.each(PROVIDERS)('several processes at $provider', (given) => {
  const { provider, card } = given

  it('create one customer and one subscription from twenty concurrent calls', SLOW, async () => {
    const test = await start(provider)
    const { id: userId } = test.user
    const token = provider === 'stripe' ? card : test.sandbox.braintree.createNonce()
    const processes = await Promise.all(
      [1, 2].map(() => startChild(test, provider, { lockLease: 15 })),
    )
    const begun = processes.map((each) =>
      each.begin({ job: 'createOften', userId, card: token, times: 10 }),
    )
    const reports = await Promise.all(begun.map((each) => each.until('made')))
    const made = reports.flatMap((report) => report.made ?? [])
    expect(made).toHaveLength(20)
    expect(new Set(made).size).toBe(1)
    const user = await test.billing.user(userId)
    expect(countProviderCustomers(test, provider)).toBe(1)
    expect(countProviderSubscriptions(test, user)).toBe(1)
    expect(sumChargedCents(test, user)).toBe(1000)
    await test.settle()
    expect(await readTableState(test.database, userId)).toEqual(
      readSandboxState(test.sandbox, provider, user.providerId ?? ''),
    )
  })

  it(
    "do not undo each other's changes if one was suspended for longer than the lease of its lock",
    SLOW,
    async () => {
      const test = await start(provider, { webhooks: false, lockLease: 1 })
      const { trouble } = test.sandbox
      const outcomes: string[] = []
      const sleeper = await startChild(test, provider, { lockLease: 1 })
      for (let call = 0; ; call++) {
        const user = await test.createUser()
        await user.newSubscription('main', 'monthly').create(card)
        trouble.failNext(call, { slowMs: 0 }, provider)
        trouble.failNext(1, 'held', provider)
        const swap = sleeper.begin({ ...subscriptionJob('swap', 'pro'), userId: user.id })
        const isOver = await Promise.race([
          trouble.untilHeld().then(() => false),
          swap.outcome().then(() => true),
        ])
        if (isOver) break
        // Suspend the process after the provider's response was sent; it resumes when the response is
        // outdated. Not during our transaction: suspended while renewing its lease, it would keep
        // SQLite's file locked.
        await test.database.transaction(async (tx) => {
          await tx.kysely.updateTable('users').set({ name: 'Ada' }).where('id', '=', 0).execute()
          sleeper.signal('SIGSTOP')
        })
        trouble.release()
        await (await user.subscription('main')).cancelNow()
        sleeper.signal('SIGCONT')
        const { done, failed } = await swap.outcome()
        outcomes.push(failed ?? String(done))
        const truth = readSandboxState(test.sandbox, provider, user.providerId ?? '')
        expect(truth.subscriptions[0]?.status.toLowerCase(), `call ${call}`).toBe('canceled')
        expect(await readTableState(test.database, user.id), `call ${call}`).toEqual(truth)
      }
      trouble.clear()
      expect(outcomes).toContain('Busy: The lock was lost to another process')
      expect(outcomes.length).toBeGreaterThan(2)
    },
  )
})

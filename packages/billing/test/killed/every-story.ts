import { expect, it } from 'vitest'
import type { ProviderName } from '../../src/index.ts'
import { PROVIDERS, start } from '../support.ts'
import { isCall, LOCK_LEASE_SECONDS, LONG_TEST_TIMEOUT, tryEveryPoint } from './every-point.ts'
import { expectOutcome } from './outcome.ts'
import { STORIES } from './stories/all.ts'
import { jobOf, prepare, retryJob } from './story.ts'
import { expectWrites, runsOnThisDatabase } from './writes.ts'

/**
 * Declares the tests of all stories of a provider. In each, a process is killed at every one of its
 * steps.
 */
export function killEverywhere(provider: ProviderName): void {
  const cases = PROVIDERS.filter((given) => given.provider === provider).flatMap((given) =>
    STORIES.filter(
      ({ name, providers = [provider] }) =>
        runsOnThisDatabase(provider, name) && providers.includes(provider),
    ).map((story) => ({ name: story.name, provider, given, story })),
  )
  it.each(cases)(
    'loses nothing when running $name at $provider',
    LONG_TEST_TIMEOUT,
    async ({ given, story }) => {
      const { here, there } = story.options ?? { here: {}, there: {} }
      const test = await start(provider, {
        coupon: true,
        webhooks: false,
        lockLease: LOCK_LEASE_SECONDS,
        ...here,
      })
      await story.prepare?.(test)
      const steps = await tryEveryPoint(test, provider, {
        atLocks: story.atLocks ?? false,
        ...there,
        prepare: (count) => prepare(test, given, { ...story, count }),
        jobOf: (run) => ({ userId: run.user.id, ...jobOf(story, run) }),
        async afterwards(run, at) {
          const again = { ...run, user: await test.billing.user(run.user.id) }
          await retryJob(story, again)
          await expectOutcome(story, again, at)
        },
      })
      expect(steps.some(isCall)).toBe(true)
      expectWrites(provider, story.name, steps)
    },
  )
}

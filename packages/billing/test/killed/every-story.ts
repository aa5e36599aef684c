import { expect, it } from 'vitest'
import type { ProviderName } from '../../src/index.ts'
import { PROVIDERS, start } from '../support.ts'
import { isCall, LEASE, LONG, tryEveryPoint } from './every-point.ts'
import { expectOutcome } from './outcome.ts'
import { STORIES } from './stories/all.ts'
import { askAgain, jobOf, prepare } from './story.ts'
import { expectWrites, isTried } from './writes.ts'

/** All stories of a provider, each with a process that is killed at every one of its steps. */
export function killEverywhere(provider: ProviderName): void {
  const cases = PROVIDERS.filter((given) => given.provider === provider).flatMap((given) =>
    STORIES.filter(
      ({ name, providers = [provider] }) => isTried(provider, name) && providers.includes(provider),
    ).map((story) => ({ name: story.name, provider, given, story })),
  )
  it.each(cases)('of $name at $provider loses nothing', LONG, async ({ given, story }) => {
    const { here, there } = story.options ?? { here: {}, there: {} }
    const test = await start(provider, { coupon: true, webhooks: false, lockLease: LEASE, ...here })
    await story.prepare?.(test)
    const steps = await tryEveryPoint(test, provider, {
      atLocks: story.atLocks ?? false,
      ...there,
      prepare: (count) => prepare(test, given, { ...story, count }),
      jobOf: (asking) => ({ userId: asking.user.id, ...jobOf(story, asking) }),
      async afterwards(asking, at) {
        const again = { ...asking, user: await test.billing.user(asking.user.id) }
        await askAgain(story, again)
        await expectOutcome(story, again, at)
      },
    })
    expect(steps.some(isCall)).toBe(true)
    expectWrites(provider, story.name, steps)
  })
}

import { expect, it } from 'vitest'
import { isCall, LEASE, LONG, tryEveryPoint } from './killed/every-point.ts'
import { expectOutcome } from './killed/outcome.ts'
import { STORIES } from './killed/stories/all.ts'
import { askAgain, jobOf, prepare } from './killed/story.ts'
import { expectWrites, isTried } from './killed/writes.ts'
import { PROVIDERS, start } from './support.ts'

/** Elsewhere than on SQLite there may be none at a provider. */
const CASES = PROVIDERS.flatMap((given) =>
  STORIES.filter(
    ({ name, providers = [given.provider] }) =>
      isTried(given.provider, name) && providers.includes(given.provider),
  ).map((story) => ({ name: story.name, provider: given.provider, given, story })),
)

it.each(CASES)(
  'threat W5 a process killed at any step of $name at $provider loses nothing',
  LONG,
  async ({ given, provider, story }) => {
    const { here, there } = story.options ?? { here: {}, there: {} }
    const test = await start(provider, { webhooks: false, lockLease: LEASE, ...here })
    await story.prepare?.(test)
    const steps = await tryEveryPoint(test, given, {
      atOnce: 4,
      ...there,
      prepare: (count) => prepare(test, given, { ...story, count }),
      begin: (child, asking, stopAt) =>
        child.begin({ userId: asking.user.id, ...jobOf(story, asking), stopAt }),
      async afterwards(asking, at) {
        const again = { ...asking, user: await test.billing.user(asking.user.id) }
        await askAgain(story, again)
        await expectOutcome(story, again, at)
      },
    })
    expect(steps.some(isCall)).toBe(true)
    expectWrites(provider, story.name, steps)
  },
)

import { describe, expect, it } from 'vitest'
import { ProviderUnavailable } from '../src/index.ts'
import { takeCheckpoint } from './checkpoint.ts'
import { expectOutcome } from './killed/outcome.ts'
import { STORIES } from './killed/stories/all.ts'
import { prepare, retryJob, runJob } from './killed/story.ts'
import { createImpatientBilling, LOSSES, loseResponse } from './lost-answers.ts'
import { PROVIDERS, start } from './support.ts'

describe.each(PROVIDERS)('a lost response of $provider', (given) => {
  const { provider } = given
  const stories = STORIES.filter(({ providers }) => providers?.includes(provider) ?? true)

  it.each(stories)(
    'has no second effect when the call is repeated: $name (threat W5)',
    async (story) => {
      const first = await start(provider, { coupon: true, webhooks: false, ...story.options?.here })
      await story.prepare?.(first)
      const [begun] = await prepare(first, given, { ...story, count: 1 })
      if (!begun) throw new Error('No user was prepared')
      const goBack = await takeCheckpoint(first)
      let lost = 0
      for (let call = 0, wasHit = true; wasHit; call++) {
        const how = LOSSES[call % LOSSES.length] ?? 'timeout'
        const test = await goBack()
        const user = await createImpatientBilling(test).user(begun.user.id)
        const run = { ...begun, test }
        loseResponse(test, provider, { after: call, how })
        const failed = await runJob(story, { ...run, user }).then(
          () => null,
          (error: unknown) => error,
        )
        wasHit = test.sandbox.trouble.takeCallTrouble(provider) === null
        test.sandbox.trouble.clear()
        if (wasHit) lost += 1
        const again = { ...run, user: await test.billing.user(user.id) }
        if (failed) expect(failed, `call ${call}`).toBeInstanceOf(ProviderUnavailable)
        await retryJob(story, again)
        await expectOutcome(story, again, `call ${call} (${how})`)
      }
      expect(lost).toBeGreaterThan(0)
    },
  )
})

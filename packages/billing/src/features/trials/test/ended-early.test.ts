import { describe, expect, it } from 'vitest'
import { start } from '../../../../test/support.ts'
import type { Subscription } from '../../../index.ts'

const WAYS: readonly (readonly [string, (subscription: Subscription) => Promise<unknown>])[] = [
  ['resume()', (subscription) => subscription.resume()],
  ['swap()', (subscription) => subscription.swap('pro')],
  ['a swap to another interval', (subscription) => subscription.swap('yearly')],
  ['cancelNow()', (subscription) => subscription.cancelNow()],
]

describe('a Braintree subscription that was cancelled during its trial and then ended early', () => {
  it.each(WAYS)(
    'keeps its end date when the trial would have ended (ended early by: %s)',
    async (_, end) => {
      const test = await start('braintree', { webhooks: false })
      const { user, billing } = test
      const cancelled = await user
        .newSubscription('main', 'monthly')
        .trialDays(10)
        .create('fake-valid-visa-nonce')
      await cancelled.cancel()
      await test.sandbox.clock.advance({ days: 2 })
      await end(await user.subscription('main'))
      const endOf = async () => {
        const all = await user.subscriptions()
        return all.find(({ providerId }) => providerId === cancelled.providerId)?.endsAt
      }
      const endedAt = await endOf()
      expect(endedAt?.getTime()).toBeLessThanOrEqual(test.sandbox.clock.now().getTime())
      expect((await billing.sync()).drift).toEqual([])

      await test.sandbox.clock.advance({ days: 20 })
      const { drift } = await billing.sync()
      expect(drift.filter(({ providerId }) => providerId === cancelled.providerId)).toEqual([])
      expect(await endOf()).toEqual(endedAt)
    },
  )
})

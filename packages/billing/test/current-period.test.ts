import { describe, expect, it } from 'vitest'
import { PROVIDERS, start } from './support.ts'

describe.each(PROVIDERS)(
  'the current period of a subscription at $provider',
  ({ provider, card }) => {
    it('is the trial, then each billing period, and a renewal by itself is not reported as a change', async () => {
      const changes: string[] = []
      const test = await start(provider, {
        on: { 'subscription.changed': ({ id }) => void changes.push(id) },
      })
      const { user } = test
      const made = await user.newSubscription('main', 'monthly').trialDays(10).create(card)
      const trial = made.currentPeriod
      expect(trial?.endsAt).toEqual(made.trialEndsAt)
      await test.advance({ days: 11 })
      const first = (await user.subscription('main')).currentPeriod
      expect(first?.startsAt).toEqual(trial?.endsAt)
      const before = changes.length
      await test.advance({ months: 1 })
      const second = (await user.subscription('main')).currentPeriod
      expect(second?.startsAt).toEqual(first?.endsAt)
      expect(changes.slice(before)).toEqual([])
    })

    it('is completed by sync() in a row that lacks it, without being reported as drift', async () => {
      const test = await start(provider, { webhooks: false })
      const { user, database } = test
      const made = await user.newSubscription('main', 'monthly').create(card)
      await database.kysely
        .updateTable('subscriptions')
        .set({ period_starts_at: null, period_ends_at: null })
        .execute()
      expect((await user.subscription('main')).currentPeriod).toBeNull()
      expect((await user.sync()).drift).toEqual([])
      expect((await user.subscription('main')).currentPeriod).toEqual(made.currentPeriod)
    })
  },
)

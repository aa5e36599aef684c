import { describe, expect, it } from 'vitest'
import { PROVIDERS, start } from './support.ts'

describe.each(PROVIDERS)(
  'an unfinished operation of an unknown kind at $provider',
  ({ provider, card }) => {
    // The second one is a method name that every object has.
    it.each(['from-a-newer-version', 'valueOf'])(
      'stays stored, and does not affect other operations (kind: %s)',
      async (kind) => {
        const { user, database, billing, settle } = await start(provider)
        const subscription = await user.newSubscription('main', 'monthly').create(card)
        await settle()
        const operation = {
          id: 'c0c0c0c0c0c0c0c0c0c0c0c0',
          user_id: user.id,
          kind,
          fingerprint: 'f',
          request: JSON.stringify({ provider, from: subscription.providerId, tax: 2000 }),
          name: 'main',
          created_at: 1,
        }
        await database.kysely.insertInto('billing_operations').values(operation).execute()
        await subscription.cancel()
        expect(subscription.onGracePeriod()).toBe(true)
        expect((await billing.sync()).failures).toEqual([])
        await settle()
        expect(await billing.webhooks.deadLetters()).toEqual([])
        const left = await database.kysely.selectFrom('billing_operations').select('kind').execute()
        expect(left).toEqual([{ kind }])
      },
    )
  },
)

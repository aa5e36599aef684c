import { describe, expect, it } from 'vitest'
import { start, stripeSdk } from '../../../../test/support.ts'

const CARD = 'fake-valid-visa-nonce'

describe('a subscription whose database row was lost', () => {
  it.each(['main', 'default', 'Team_A-1', 'a rather long name, 名前'])(
    'is restored by sync() under its name "%s"',
    async (name) => {
      const test = await start('braintree', { webhooks: false })
      const { user, database } = test
      const other = await test.createUser({ email: 'bob@example.com' })
      await other.newSubscription(name, 'monthly').create(CARD)
      const made = await user.newSubscription(name, 'yearly').create(CARD)
      const swapped = await made.swap('monthly')
      await database.kysely.deleteFrom('subscriptions').where('user_id', '=', user.id).execute()
      await user.sync()
      const rows = await user.subscriptions()
      expect(rows.map((row) => row.name)).toEqual([name, name])
      expect((await user.subscription(name)).providerId).toBe(swapped.providerId)
    },
  )
})

describe('a customer that was deleted at Stripe', () => {
  it('has its card and subscription removed from our rows, and its user can subscribe again', async () => {
    const test = await start('stripe')
    const { user } = test
    await user.newSubscription('main', 'monthly').create('pm_card_visa')
    await (await stripeSdk(test)).customers.del(user.providerId ?? '')
    await test.settle()
    const again = await test.billing.user(user.id)
    expect(again).toMatchObject({ providerId: null, cardBrand: null, cardLastFour: null })
    expect(await again.subscribed('main')).toBe(false)
    await again.newSubscription('main', 'monthly').create('pm_card_visa')
    expect(await again.subscribed('main')).toBe(true)
  })
})

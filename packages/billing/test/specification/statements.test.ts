import { describe, expect, it, onTestFinished } from 'vitest'
import { createTestDatabase } from '../../../../test-support/create-test-database.ts'
import { start, stripeSdk } from '../support.ts'

async function counted(options: Parameters<typeof start>[1] = {}) {
  const statements: string[] = []
  const created = await createTestDatabase({ onQuery: (sql) => statements.push(sql) })
  onTestFinished(() => created.drop())
  const test = await start('stripe', {
    webhooks: false,
    database: created.database,
    ...options,
  })
  const counting = async (act: () => unknown) => {
    statements.length = 0
    await act()
    return statements.length
  }
  return { ...test, counting }
}

describe('the number of SQL statements', () => {
  it('is 1 for subscribed(), and 0 for the state methods of a subscription that is loaded', async () => {
    const { user, counting } = await counted()
    await user.newSubscription('main', 'monthly').create('pm_card_visa')
    const subscription = await user.subscription('main')
    expect(await counting(() => user.subscribed('main'))).toBe(1)
    expect(await counting(() => user.subscribedToPlan('monthly', 'main'))).toBe(1)
    const questions = [
      () => subscription.valid(),
      () => subscription.onTrial(),
      () => subscription.onGracePeriod(),
      () => subscription.cancelled(),
      () => user.onTrial(),
    ]
    for (const question of questions) expect(await counting(question)).toBe(0)
  })

  it('is 1 to verify, store and answer a webhook without a handler (threat W2)', async () => {
    const test = await counted()
    const secret = 'whsec_count'
    const billing = test.another({
      migrate: false,
      stripe: { secret: 'sk_test_1', webhookSecret: secret },
    })
    const stripe = await stripeSdk(test)
    const payload = JSON.stringify({
      id: 'evt_1',
      object: 'event',
      type: 'charge.succeeded',
      livemode: false,
      data: { object: {} },
    })
    const signature = stripe.webhooks.generateTestHeaderString({ payload, secret })
    const send = async () => {
      const reply = await billing.fetch(
        new Request('http://app.example/stripe/webhook', {
          method: 'POST',
          body: payload,
          headers: { 'stripe-signature': signature },
        }),
      )
      expect(reply.status).toBe(200)
    }
    // The first call checks whether the tables are up to date.
    await billing.findUser(test.user.id)
    expect(await test.counting(send)).toBe(1)
    expect(await test.counting(send)).toBe(1)
  })
})

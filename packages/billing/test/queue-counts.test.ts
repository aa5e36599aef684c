import { describe, expect, it, onTestFinished } from 'vitest'
import { SECRET, startReceiver } from '../../../test-support/webhook-receiver.ts'
import { START, start } from './support.ts'

const EMPTY = { pending: 0, retrying: 0, dead: 0, held: 0, lateSeconds: 0 }

describe('billing.countQueues()', () => {
  it('counts deliveries that are retried, given up and on hold, and empty queues as zero', async () => {
    const receiver = await startReceiver()
    onTestFinished(receiver.close)
    const endpoint = { url: receiver.url, secret: SECRET }
    const test = await start('stripe', {
      deliveries: { endpoints: [endpoint], privateAddresses: ['127.0.0.1'] },
    })
    const deliveries = async () => (await test.billing.countQueues()).deliveries
    await test.user.updateCard('pm_card_visa')
    await test.billing.process()
    expect(await test.billing.countQueues()).toEqual({
      webhooks: EMPTY,
      usage: EMPTY,
      events: EMPTY,
      deliveries: EMPTY,
      notices: EMPTY,
    })
    receiver.answer(500)
    await test.user.invoiceFor('A T-shirt', 500)
    await test.settle()
    expect(await deliveries()).toMatchObject({ retrying: 1, dead: 0, held: 0, lateSeconds: 0 })
    await test.database.kysely
      .updateTable('billing_deliveries')
      .set({ state: 'dead' })
      .where('state', '=', 'pending')
      .execute()
    expect(await deliveries()).toMatchObject({ retrying: 0, dead: 1, held: 0 })
    receiver.answer(410)
    await test.user.invoiceFor('Another T-shirt', 500)
    await test.settle()
    expect(await deliveries()).toMatchObject({ pending: 0, dead: 1, held: 1 })
  })

  it('measures how long the oldest pending entry has been due, and leaves out endpoints that were removed', async () => {
    const endpoint = { url: 'https://hooks.example.com/events', secret: SECRET }
    const { billing, another, database } = await start('stripe', {
      deliveries: { endpoints: [endpoint] },
    })
    const [name = ''] = billing.deliveries.endpoints
    const delivery = {
      endpoint: name,
      type: 'invoice.paid',
      payload: '{}',
      state: 'pending',
      attempts: 0,
      created_at: 0,
    }
    const due = (seconds: number) => START.getTime() + seconds * 1000
    await database.kysely
      .insertInto('billing_deliveries')
      .values([
        { ...delivery, event_id: 'late', due_at: due(-90) },
        { ...delivery, event_id: 'later', due_at: due(60) },
      ])
      .execute()
    expect((await billing.countQueues()).deliveries).toMatchObject({ pending: 2, lateSeconds: 90 })
    const other = another({ deliveries: { endpoints: [] } })
    expect((await other.countQueues()).deliveries).toEqual(EMPTY)
  })
})

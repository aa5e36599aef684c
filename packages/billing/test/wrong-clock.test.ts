import type { ServerResponse } from 'node:http'
import { expect, it, onTestFinished } from 'vitest'
import { SECRET, startReceiver } from '../../../test-support/webhook-receiver.ts'
import { createEventRepository } from '../src/core/storage/events.ts'
import { startChild } from './child-process.ts'
import { start } from './support.ts'

const types = new Map([['user', { idType: 'integer' }]] as const)
const MINUTE = 60_000
const EVENTS = 20

it('a process whose clock is 15 minutes ahead sends no outgoing webhook that another process is sending (threat Q5)', async () => {
  const receiver = await startReceiver()
  onTestFinished(receiver.close)
  const held: ServerResponse[] = []
  receiver.answer((_, response) => void held.push(response))
  const deliveries = {
    endpoints: [{ url: receiver.url, secret: SECRET }],
    privateAddresses: ['127.0.0.1'],
  }
  const test = await start('stripe', { webhooks: false })
  const events = createEventRepository(test.database, types)
  for (let number = 1; number <= EVENTS; number += 1) {
    const payload = JSON.stringify({
      provider: 'stripe',
      data: { invoice: { id: `in_${number}` } },
    })
    const event = { owner: { type: 'user', id: 1 }, type: 'invoice.voided', payload } as const
    await events.add({ ...event, subject: `stripe:in_${number}` }, new Date(), test.database)
  }
  const shared = { lockLease: 15, deliveries }
  const right = await startChild(test, 'stripe', { ...shared, clockAhead: 0 })
  const ahead = await startChild(test, 'stripe', { ...shared, clockAhead: 15 * MINUTE })

  const sending = right.begin({ job: 'tell' })
  await expect.poll(() => held.length).toBeGreaterThan(0)
  const wrongly = ahead.begin({ job: 'tell' })
  const underWay = held.length
  // Wait until it is done or has sent something, while the first deliveries are running.
  await Promise.race([wrongly.outcome(), expect.poll(() => held.length).toBeGreaterThan(underWay)])
  receiver.answer(204)
  for (const response of held) response.writeHead(204).end()
  expect((await sending.outcome()).done).toBe(true)
  await wrongly.outcome()
  expect(new Set(receiver.ids()).size).toBe(EVENTS)
  expect(receiver.ids()).toHaveLength(EVENTS)
})

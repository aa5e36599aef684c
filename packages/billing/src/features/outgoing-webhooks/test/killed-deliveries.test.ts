import { expect, it, onTestFinished } from 'vitest'
import { SECRET, startReceiver, verify } from '../../../../../../test-support/webhook-receiver.ts'
import { LONG_TEST_TIMEOUT, runAndKill } from '../../../../test/killed/every-point.ts'
import { start } from '../../../../test/support.ts'
import { createEventRepository, deriveEventId } from '../../../core/storage/events.ts'

const types = new Map([['user', { idType: 'integer' }]] as const)

it(
  'no outgoing webhook is lost if a process is killed at any step of sending it (threat W7)',
  LONG_TEST_TIMEOUT,
  async () => {
    const receiver = await startReceiver()
    onTestFinished(receiver.close)
    const endpoints = [{ url: receiver.url, secret: SECRET }]
    const deliveries = { endpoints, privateAddresses: ['127.0.0.1'] }
    const test = await start('stripe', { webhooks: false })
    const events = createEventRepository(test.database, types)
    const survivor = test.another({ deliveries })
    const stops: { readonly id: string; readonly at: string }[] = []

    /** Another process has written an event; this one is killed while sending it. */
    const tryPoint = async (stopAt: number) => {
      const event = {
        owner: { type: 'user', id: 1 },
        type: 'invoice.voided',
        subject: `stripe:in_${stopAt}`,
        payload: JSON.stringify({ provider: 'stripe', data: { invoice: { id: `in_${stopAt}` } } }),
      }
      await events.add(event, test.sandbox.clock.now(), test.database)
      const { outcome, at } = await runAndKill(
        test,
        'stripe',
        { job: 'tell', stopAt },
        { deliveries },
      )
      stops.push({ id: deriveEventId(event), at })
      // A claimed delivery becomes free after a while.
      await test.sandbox.clock.advance({ minutes: 11 })
      await survivor.process()
      return outcome.steps?.length ?? 0
    }

    const steps = await tryPoint(1_000_000)
    for (let stopAt = 1; stopAt <= steps; stopAt++) await tryPoint(stopAt)
    for (const { id, at } of stops) expect(receiver.ids(), at).toContain(id)
    for (const each of receiver.received) verify(SECRET, each)
    expect(await survivor.deliveries.list('pending')).toEqual([])
    expect(await survivor.events.pending()).toEqual([])
    const seen = stops.map(({ at }) => at).join('\n')
    expect(seen).toContain('before POST /events')
    expect(seen).toMatch(/before insert.+billing_deliveries/)
    expect(seen).toMatch(/before update.+billing_deliveries/)
  },
)

import { expect, it } from 'vitest'
import { MovableClock } from './clock/clock.ts'
import { WebhookOutbox } from './outbox.ts'
import { SandboxStore } from './store/store.ts'

const WEBHOOK = {
  provider: 'twin',
  eventId: 'e1',
  eventType: 'check',
  url: 'http://receiver.test/',
  headers: { 'content-type': 'text/plain' },
  body: 'hello',
} as const

function setUp(statuses: Array<number | Error>, kept = 100) {
  const clock = new MovableClock(new Date(0))
  const store = new SandboxStore()
  const sent: Array<{ at: number; body: string }> = []
  const outbox = new WebhookOutbox({
    clock,
    store,
    kept,
    fetch: async (_url, init) => {
      sent.push({ at: clock.nowMs(), body: String(init?.body) })
      const status = statuses.shift() ?? 200
      if (typeof status !== 'number') throw status
      return new Response(null, { status })
    },
  })
  outbox.addSender('twin', { retrySchedule: Array.from({ length: 24 }, () => 3600) })
  return { clock, store, outbox, sent }
}

it('the outbox with an hourly retry schedule repeats a failed webhook delivery for a day, and then marks it as failed', async () => {
  const { clock, outbox, sent } = setUp(Array.from({ length: 99 }, () => 503))
  outbox.enqueue(WEBHOOK)
  await clock.advance({ days: 3 })
  expect(sent.map((each) => each.at / 3_600_000)).toEqual(Array.from({ length: 25 }, (_, at) => at))
  expect(outbox.deliveries()[0]).toMatchObject({ state: 'failed', dueAt: null })
})

it('the outbox records that a webhook receiver is unreachable, and sends the webhook again on redeliver()', async () => {
  const { outbox, sent } = setUp([new Error('refused')])
  outbox.enqueue(WEBHOOK)
  await outbox.flush()
  const [delivery] = outbox.deliveries()
  expect(delivery?.attempts).toEqual([{ at: 0, status: null, error: 'refused' }])
  await outbox.redeliver(delivery?.id ?? '')
  expect(delivery?.state).toBe('delivered')
  await outbox.redeliver(delivery?.id ?? '')
  expect(sent).toHaveLength(3)
  await expect(outbox.redeliver('dlv_none')).rejects.toThrow(RangeError)
})

it('the outbox corrupts only the first delivery attempt of a webhook, with the simulated fault corrupt', async () => {
  const { clock, outbox, sent } = setUp([400])
  outbox.set({ corrupt: 1 })
  outbox.enqueue(WEBHOOK)
  outbox.enqueue({ ...WEBHOOK, eventId: 'e2' })
  await clock.advance({ hours: 1 })
  expect(sent.map((each) => each.body)).toEqual(['hexlo', 'hello', 'hello'])
})

it('the outbox restores pending webhook deliveries from a snapshot, and keeps only the configured number of deliveries', async () => {
  const first = setUp([500])
  first.outbox.enqueue(WEBHOOK)
  await first.outbox.flush()
  const second = setUp([], 2)
  second.store.restore(first.store.snapshot())
  await second.clock.advance({ hours: 2 })
  expect(second.sent).toEqual([{ at: 3_600_000, body: 'hello' }])
  for (const eventId of ['e2', 'e3']) second.outbox.enqueue({ ...WEBHOOK, eventId })
  expect(second.outbox.deliveries().map((delivery) => delivery.eventId)).toEqual(['e2', 'e3'])
})

it('the outbox delivers a webhook to one URL while a delivery to another URL is in progress', async () => {
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const sent: string[] = []
  const outbox = new WebhookOutbox({
    clock: new MovableClock(new Date(0)),
    store: new SandboxStore(),
    fetch: async (url, init) => {
      if (String(url).includes('slow')) await held
      sent.push(`${url} ${init?.body}`)
      return new Response(null, { status: 200 })
    },
  })
  const slow = { ...WEBHOOK, url: 'http://slow.test/' }
  outbox.enqueue({ ...slow, body: '1' })
  const all = outbox.flush()
  outbox.enqueue({ ...slow, body: '2' })
  outbox.enqueue({ ...WEBHOOK, body: '3' })
  const later = outbox.flush()
  await expect.poll(() => sent).toEqual(['http://receiver.test/ 3'])
  release()
  await Promise.all([all, later])
  expect(sent).toEqual(['http://receiver.test/ 3', 'http://slow.test/ 1', 'http://slow.test/ 2'])
})

it("the outbox keeps the first 1,000 characters of a receiver's error response, and stops reading an endless body", async () => {
  let chunks = 0
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      chunks++
      controller.enqueue(new Uint8Array(16_384).fill(120))
    },
  })
  const outbox = new WebhookOutbox({
    clock: new MovableClock(new Date(0)),
    store: new SandboxStore(),
    fetch: async () => new Response(endless, { status: 500 }),
  })
  outbox.enqueue(WEBHOOK)
  await outbox.flush()
  const [attempt] = outbox.deliveries()[0]?.attempts ?? []
  expect(attempt).toMatchObject({ status: 500, response: 'x'.repeat(1000) })
  expect(chunks).toBeLessThan(10)
})

it.each(['sign', 'isObsolete'] as const)(
  "the outbox records a failed attempt if a provider's function %s throws, and delivers the webhooks of other providers",
  async (part) => {
    const { clock, outbox, sent } = setUp([])
    let isBroken = true
    outbox.addSender('twin', {
      retrySchedule: [3600],
      [part]: ({ eventId }: { eventId: string }) => {
        if (eventId === 'e1' && isBroken) throw new Error('no secret')
        return part === 'sign' ? {} : false
      },
    })
    outbox.enqueue(WEBHOOK)
    outbox.enqueue({ ...WEBHOOK, eventId: 'e2', body: 'second' })
    await outbox.flush()
    expect(sent).toEqual([{ at: 0, body: 'second' }])
    const [broken] = outbox.deliveries()
    expect(broken?.attempts).toEqual([{ at: 0, status: null, error: 'no secret' }])
    isBroken = false
    await clock.advance({ hours: 1 })
    expect(outbox.deliveries().map(({ state }) => state)).toEqual(['delivered', 'delivered'])
  },
)

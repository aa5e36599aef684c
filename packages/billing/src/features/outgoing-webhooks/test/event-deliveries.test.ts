import { describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  OTHER_SECRET,
  type Receiver,
  SECRET,
  startReceiver as startOne,
  verify,
} from '../../../../../../test-support/webhook-receiver.ts'
import { type FlowTest, PROVIDERS, start } from '../../../../test/support.ts'
import type { BillingOptions, DeliveryEndpoint, DeliveryOptions } from '../../../index.ts'

const OPENED = { privateAddresses: ['127.0.0.1'] }

async function startReceiver(): Promise<Receiver> {
  const receiver = await startOne()
  onTestFinished(receiver.close)
  return receiver
}

interface Sending extends FlowTest {
  readonly receiver: Receiver
  readonly errors: string[]
  subscribe(): Promise<void>
}

/** Starts billing that delivers to a server of the test. */
async function sending(
  endpoint: Partial<DeliveryEndpoint> = {},
  more: Partial<DeliveryOptions> = {},
  options: Partial<BillingOptions> = {},
): Promise<Sending> {
  const receiver = await startReceiver()
  const errors: string[] = []
  const test = await start('stripe', {
    deliveries: {
      ...OPENED,
      endpoints: [{ url: receiver.url, secret: SECRET, ...endpoint }],
      ...more,
    },
    logger: { error: (message, error) => errors.push(`${message} ${error ?? ''}`) },
    ...options,
  })
  const subscribe = async () => {
    const user = await test.createUser()
    await user.newSubscription('main', 'monthly').create('pm_card_visa')
    await test.settle()
  }
  return { ...test, receiver, errors, subscribe }
}

const ONLY_CREATED = { types: ['subscription.created'] } as const

describe.each(PROVIDERS)(
  'events sent to a webhook endpoint, at $provider (threat W7)',
  ({ provider, card }) => {
    it('contain the data that listeners receive, with a signature that an independent library verifies', async () => {
      const receiver = await startReceiver()
      const endpoints = [{ url: receiver.url, secret: SECRET }]
      const test = await start(provider, { deliveries: { ...OPENED, endpoints } })
      await test.user.newSubscription('main', 'monthly').create(card)
      await test.settle()
      await (await test.user.subscription('main')).cancelNow()
      await test.settle()
      const events = receiver.received.map((each) => verify(SECRET, each)) as { type: string }[]
      expect(events.map(({ type }) => type)).toEqual(
        expect.arrayContaining(['subscription.created', 'invoice.paid', 'subscription.ended']),
      )
      const created = receiver.received.find(({ body }) => body.includes('subscription.created'))
      const { providerId: id } = (await test.user.subscriptions())[0] ?? {}
      expect(JSON.parse(created?.body ?? '')).toMatchObject({
        id: created?.headers['webhook-id'],
        type: 'subscription.created',
        timestamp: '2026-01-15T10:00:00.000Z',
        owner: { type: 'user', id: test.user.id },
        provider,
        data: { subscription: { id, name: 'main', price: 'monthly', quantity: 1, endsAt: null } },
      })
      expect(created).toMatchObject({
        method: 'POST',
        path: '/events',
        headers: {
          'content-type': 'application/json',
          'webhook-id': expect.stringMatching(/^evt_[0-9a-f]{40}$/),
        },
      })
      expect(receiver.received.map(({ body }) => body).join()).not.toMatch(/4242 ?4242|sk_|whsec_/)
      expect(new Set(receiver.ids()).size).toBe(receiver.received.length)
      expect(await test.billing.deliveries.list('pending')).toEqual([])
      const done = await test.billing.deliveries.list('done')
      expect(done).toHaveLength(receiver.received.length)
    })
  },
)

describe('the delivery of an outgoing webhook (threat W7)', () => {
  it('is repeated with the same id and body after a 500, until it succeeds once', async () => {
    const test = await sending(ONLY_CREATED)
    const { receiver, billing } = test
    receiver.answer(
      (_, response) => void response.writeHead(500).end('a secret of the application'),
    )
    await test.subscribe()
    const [waiting] = await billing.deliveries.list('pending')
    expect(waiting).toMatchObject({ attempts: 1, lastError: 'Error: It answered with 500' })
    await billing.process()
    expect(receiver.received).toHaveLength(1)
    receiver.answer(200)
    await test.advance({ minutes: 1 })
    expect(receiver.received).toHaveLength(2)
    expect(new Set(receiver.ids()).size).toBe(1)
    expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1)
    for (const each of receiver.received) verify(SECRET, each)
    expect(await billing.deliveries.list('done')).toMatchObject([{ lastError: null }])
    await test.advance({ days: 5 })
    expect(receiver.received).toHaveLength(2)
    const everything = JSON.stringify([await billing.deliveries.list('done'), test.errors])
    expect(everything).not.toContain('a secret of the application')
    expect(everything).not.toContain(SECRET.slice(6))
  })

  it('is given up after three days, then listed as a dead letter, and repeated by resend()', async () => {
    const test = await sending(ONLY_CREATED)
    const { receiver, billing } = test
    receiver.answer(503)
    await test.subscribe()
    for (let days = 0; days < 12; days++) await test.advance({ days: 1, hours: 3 })
    expect(receiver.received).toHaveLength(11)
    const [dead] = await billing.deliveries.list('dead')
    expect(dead).toMatchObject({ attempts: 11, type: 'subscription.created' })
    receiver.answer(202)
    expect(await billing.deliveries.resend(dead?.id ?? 0)).toBe(true)
    await billing.process()
    expect(receiver.received).toHaveLength(12)
    expect(await billing.deliveries.list('dead')).toEqual([])
    // A delivery that arrived can be sent again too: the receiver may have lost it.
    expect(await billing.deliveries.resend(dead?.id ?? 0)).toBe(true)
    await billing.process()
    expect(receiver.received).toHaveLength(13)
    expect(new Set(receiver.ids()).size).toBe(1)
    expect(await billing.deliveries.resend(987_654)).toBe(false)
  })

  it('does not follow a redirect', async () => {
    const other = await startReceiver()
    const test = await sending(ONLY_CREATED)
    const { receiver, billing } = test
    receiver.answer(500)
    await test.subscribe()
    for (const status of [301, 302, 303, 307, 308]) {
      const headers = { location: other.url }
      receiver.answer((_, response) => void response.writeHead(status, headers).end())
      const [waiting] = await billing.deliveries.list('pending')
      await billing.deliveries.resend(waiting?.id ?? 0)
      await billing.process()
      expect(await billing.deliveries.list('pending')).toMatchObject([
        { lastError: `Error: It answered with ${status}` },
      ])
    }
    expect(receiver.received).toHaveLength(6)
    expect(other.received).toEqual([])
  })

  it('succeeds with a 2xx status, whatever the response contains', async () => {
    const test = await sending(ONLY_CREATED)
    test.receiver.answer((_, response) => {
      response.writeHead(201, { 'content-encoding': 'gzip', 'content-type': 'text/html' })
      response.end('x'.repeat(500_000))
    })
    await test.subscribe()
    expect(await test.billing.deliveries.list('done')).toHaveLength(1)
  })

  it('succeeds when the response headers have arrived, even if the body never ends', async () => {
    const test = await sending(ONLY_CREATED)
    test.receiver.answer((_, response) => void response.writeHead(200).write('and'))
    await test.subscribe()
    expect(await test.billing.deliveries.list('done')).toHaveLength(1)
  })

  it('times out if there is no response, and does not delay other endpoints', async () => {
    const slow = await startReceiver()
    const quick = await startReceiver()
    slow.answer(() => undefined)
    const endpoints = [
      { url: slow.url, secret: SECRET, name: 'slow' },
      { url: quick.url, secret: SECRET, name: 'quick' },
    ]
    const test = await start('stripe', {
      deliveries: { ...OPENED, endpoints, timeout: 1 },
      on: {},
    })
    const { billing } = test
    for (const user of [test.user, await test.createUser()]) {
      await user.newSubscription('main', 'monthly').create('pm_card_visa')
    }
    await test.sandbox.outbox.flush()
    await billing.process()
    void billing.process()
    await expect.poll(() => quick.received.length).toBeGreaterThanOrEqual(4)
    await billing.process()
    const late = await billing.deliveries.list('pending')
    expect(new Set(late.map(({ endpoint }) => endpoint))).toEqual(new Set(['slow']))
    expect(late[0]?.lastError).toMatch(/TimeoutError|too long/)
  })

  it('is repeated immediately by another process if billing is closed during the delivery', async () => {
    const test = await sending(ONLY_CREATED)
    const { receiver, user } = test
    const ending = test.another()
    receiver.answer(() => undefined)
    const theirs = await ending.user(user.id)
    await theirs.newSubscription('main', 'monthly').create('pm_card_visa')
    void ending.process()
    await expect.poll(() => receiver.received).toHaveLength(1)
    await ending.close()
    receiver.answer(200)
    await test.billing.process()
    expect(receiver.received).toHaveLength(2)
    expect(new Set(receiver.ids()).size).toBe(1)
  })

  it('is sent by only one of two processes', async () => {
    const test = await sending(ONLY_CREATED)
    const other = test.another()
    const users = [test.user, await test.createUser(), await test.createUser()]
    for (const user of users) await user.newSubscription('main', 'monthly').create('pm_card_visa')
    await Promise.all([test.billing.process(), other.process()])
    await test.settle()
    expect(new Set(test.receiver.ids()).size).toBe(3)
    expect(test.receiver.received).toHaveLength(3)
  })

  it('is refused by a receiver whose clock is wrong, and accepted once that clock is corrected', async () => {
    const test = await sending(ONLY_CREATED)
    const { receiver } = test
    let ahead = 10 * 60_000
    const refusals: string[] = []
    receiver.answer((each, response) => {
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ahead })
      try {
        verify(SECRET, each)
        response.writeHead(204).end()
      } catch (error) {
        refusals.push(String(error))
        response.writeHead(400).end()
      } finally {
        vi.useRealTimers()
      }
    })
    await test.subscribe()
    expect(refusals).toEqual([expect.stringContaining('timestamp too old')])
    ahead = 0
    await test.advance({ minutes: 1 })
    expect(await test.billing.deliveries.list('done')).toHaveLength(1)
  })
})

describe('a webhook endpoint of the application (threat W7)', () => {
  it('can verify signatures with the old and with the new secret during a rotation', async () => {
    const test = await sending({ ...ONLY_CREATED, secret: [OTHER_SECRET, SECRET] })
    await test.subscribe()
    const [one] = test.receiver.received
    if (!one) throw new Error('Nothing arrived')
    verify(SECRET, one)
    verify(OTHER_SECRET, one)
    expect(() => verify(`whsec_${Buffer.alloc(32).toString('base64')}`, one)).toThrow('No matching')
    expect(() => verify(SECRET, { ...one, body: one.body.replace('main', 'mian') })).toThrow()
  })

  it('receives events of the configured types only', async () => {
    const test = await sending({ types: ['invoice.paid'] })
    await test.subscribe()
    expect(test.receiver.received.map(({ body }) => JSON.parse(body).type)).toEqual([
      'invoice.paid',
    ])
  })

  it('receives nothing after it answered 410 Gone, until resendAll() delivers the events that were held back', async () => {
    const test = await sending({ ...ONLY_CREATED, name: 'the shop' })
    const { receiver, billing, errors } = test
    receiver.answer(410)
    await test.subscribe()
    await test.subscribe()
    await test.advance({ days: 2 })
    expect(receiver.received).toHaveLength(1)
    expect(errors.join('\n')).toContain('the shop answered with 410')
    expect(await billing.deliveries.list('gone')).toHaveLength(2)
    expect(await billing.deliveries.list('pending')).toEqual([])
    receiver.answer(200)
    // A new process holds it back too.
    await test.another().process()
    expect(receiver.received).toHaveLength(1)
    expect(await billing.deliveries.resendAll('the shop')).toBe(2)
    await billing.process()
    expect(new Set(receiver.ids()).size).toBe(2)
    await test.subscribe()
    expect(new Set(receiver.ids()).size).toBe(3)
    expect(await billing.deliveries.list('gone')).toEqual([])
  })

  it('receives its pending deliveries at the new URL after its URL was changed', async () => {
    const test = await sending({ ...ONLY_CREATED, name: 'the shop' })
    test.receiver.answer(500)
    await test.subscribe()
    const moved = await startReceiver()
    const endpoints = [{ url: moved.url, secret: OTHER_SECRET, name: 'the shop' }]
    const next = test.another({ deliveries: { ...OPENED, endpoints } })
    await test.sandbox.clock.advance({ minutes: 1 })
    await next.process()
    const [one] = moved.received
    expect(one && verify(OTHER_SECRET, one)).toMatchObject({ type: 'subscription.created' })
  })

  it.each([
    [
      [],
      {
        'http://127.0.0.1:1/': /not public/,
        'https://127.0.0.1:1/': /not public/,
        'https://[::1]:1/': /not public/,
        'http://8.8.8.8/': /not https/,
      },
    ],
    [['127.0.0.1'], { 'http://127.0.0.1:1/': /ECONNREFUSED/, 'https://[::1]:1/': /not public/ }],
  ])(
    'is called only at public addresses and configured private addresses (configured: %j)',
    async (privateAddresses, expected) => {
      const endpoints = Object.keys(expected).map((url) => ({
        url,
        secret: SECRET,
        ...ONLY_CREATED,
      }))
      const test = await sending({}, { privateAddresses, endpoints })
      await test.subscribe()
      const waiting = await test.billing.deliveries.list('pending')
      const errors = Object.fromEntries(waiting.map((each) => [each.endpoint, each.lastError]))
      expect(errors).toEqual(
        Object.fromEntries(
          Object.entries(expected).map(([url, error]) => [url, expect.stringMatching(error)]),
        ),
      )
    },
  )

  it('is called at the checked IP address, because its host name is resolved only once', async () => {
    const asked: string[] = []
    const resolve = async (host: string) => {
      asked.push(host)
      return [{ address: '10.0.0.1', family: 4 }]
    }
    const test = await sending({ ...ONLY_CREATED, url: 'https://shop.example/x' }, { resolve })
    await test.subscribe()
    expect(asked).toEqual(['shop.example'])
    expect((await test.billing.deliveries.list('pending'))[0]?.lastError).toContain(
      'shop.example is at 10.0.0.1, which is not public',
    )
  })

  it('has its old deliveries deleted by purge(), and all of its deliveries once it is no longer configured', async () => {
    const test = await sending(ONLY_CREATED)
    const { billing, sandbox } = test
    await test.subscribe()
    const moved = await startReceiver()
    moved.answer(500)
    const endpoints = [{ url: moved.url, secret: SECRET, name: 'moved', ...ONLY_CREATED }]
    const other = test.another({ deliveries: { ...OPENED, endpoints } })
    const user = await test.createUser()
    await (await other.user(user.id)).newSubscription('main', 'monthly').create('pm_card_visa')
    await other.process()
    expect(await billing.deliveries.list('pending')).toHaveLength(1)
    await sandbox.clock.advance({ days: 40 })
    const now = sandbox.clock.now()
    const weeksAgo = (weeks: number) => new Date(now.getTime() - weeks * 7 * 86_400_000)
    expect(await billing.purge({ before: weeksAgo(6) })).toMatchObject({ deliveries: 0 })
    // Deliveries that wait for a configured endpoint stay.
    expect(await other.purge({ before: weeksAgo(1) })).toMatchObject({ deliveries: 1 })
    expect(await billing.purge({ before: weeksAgo(1) })).toMatchObject({ deliveries: 1 })
  })
})

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { showPayload } from '../../src/admin/operations/payload.ts'
import { createAccountHelpers } from '../accounts.ts'
import { startTestService, type TestService } from '../support.ts'
import { createOperatorHelpers } from './operators.ts'

let status = 500
let server: Server
let service: TestService
let operators: ReturnType<typeof createOperatorHelpers>
let accounts: ReturnType<typeof createAccountHelpers>
beforeAll(async () => {
  server = createServer((request, response) => {
    request.resume()
    response.statusCode = status
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  service = await startTestService({
    environment: {
      TOLLGATE_DELIVERIES_URL: `http://127.0.0.1:${port}/events`,
      TOLLGATE_DELIVERIES_SECRET: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
    },
  })
  operators = createOperatorHelpers(service)
  accounts = createAccountHelpers(service)
})
afterAll(async () => {
  await service?.stop()
  await new Promise((resolve) => server?.close(resolve))
})

/** Stores events in the inbox, as a provider would have sent them. */
async function received(count: number, values: Record<string, unknown>) {
  const at = service.billing ? Date.now() : 0
  for (let number = 0; number < count; number++) {
    await service.database.kysely
      .insertInto('billing_webhooks')
      .values({
        provider: 'stripe',
        event_id: `evt_${values.state}_${number}`,
        type: 'invoice.paid',
        payload: '{}',
        state: 'dead',
        attempts: 12,
        // Two of three are due in the same millisecond.
        due_at: at + Math.floor(number / 3),
        last_error: 'It failed',
        received_at: at,
        finished_at: null,
        ...values,
      })
      .execute()
  }
}

describe('events from payment providers in the management API', () => {
  it('are listed page by page and by state, whenever they were due', async () => {
    const viewer = await operators.operator('viewer')
    await received(7, { state: 'dead' })
    const seen: string[] = []
    let after = ''
    for (let page = 0; page < 10; page++) {
      const { body } = await viewer.call('GET', `/webhooks?state=dead&limit=2${after}`)
      seen.push(...body.data.map((each: { event_id: string }) => each.event_id))
      if (body.next === null) break
      after = `&after=${body.next}`
    }
    expect(seen).toEqual([6, 5, 4, 3, 2, 1, 0].map((number) => `evt_dead_${number}`))
    const other = await viewer.call('GET', `/webhooks?state=done&limit=2${after}`)
    expect(other.status).toBe(400)
    const [dead] = (await viewer.call('GET', '/webhooks')).body.data
    expect(dead).toMatchObject({ state: 'dead', attempts: 12, last_error: 'It failed' })
    expect(dead).not.toHaveProperty('payload')
  })

  it('are shown with their payload to support, without secrets and card numbers', async () => {
    const [viewer, support] = [
      await operators.operator('viewer'),
      await operators.operator('support'),
    ]
    const object = {
      client_secret: 'pi_1_secret_2',
      number: '4242 4242 4242 4242',
      note: 'paid with 4242424242424242, order 4242424242424241',
      amount: 2500,
    }
    await received(1, { state: 'done', payload: JSON.stringify({ data: { object } }) })
    const { body } = await viewer.call('GET', '/webhooks?state=done&limit=100')
    const found = body.data.find((each: { event_id: string }) => each.event_id === 'evt_done_0')
    expect((await viewer.call('GET', `/webhooks/${found.id}`)).status).toBe(403)
    const shown = await support.call('GET', `/webhooks/${found.id}`)
    expect(shown.body).toMatchObject({
      payload_truncated: false,
      payload: {
        data: {
          object: {
            client_secret: '[hidden]',
            number: '[hidden] 4242',
            note: 'paid with [hidden] 4242, order 4242424242424241',
            amount: 2500,
          },
        },
      },
    })
    expect((await support.call('GET', '/webhooks/999999')).status).toBe(404)
    expect((await support.call('GET', '/webhooks/1e3x')).status).toBe(422)
  })

  it('can be handled again, whether or not they failed', async () => {
    const [viewer, support] = [
      await operators.operator('viewer'),
      await operators.operator('support'),
    ]
    const { customerId } = await accounts.customer('stripe')
    await service.advance({})
    const { body } = await viewer.call('GET', '/webhooks?state=done&limit=100')
    const done = body.data.find(
      ({ type }: { type: string }) => type === 'customer.subscription.created',
    )
    expect((await viewer.call('POST', `/webhooks/${done.id}/retry`)).status).toBe(403)
    for (const state of ['done', 'dead']) {
      await service.database.kysely
        .updateTable('billing_webhooks')
        .set({ state })
        .where('id', '=', done.id)
        .execute()
      const retried = await support.call('POST', `/webhooks/${done.id}/retry`)
      expect(retried.status, state).toBe(200)
      await service.billing.process()
      expect((await support.call('GET', `/webhooks/${done.id}`)).body.state).toBe('done')
    }
    expect(customerId).not.toBe('')
    expect((await operators.entries('webhooks.retry')).at(-1)).toMatchObject({
      outcome: 'done',
      subject_id: String(done.id),
    })
  })
})

describe('webhook deliveries to the application in the management API', () => {
  it('are listed, shown and sent again', async () => {
    const [viewer, support] = [
      await operators.operator('viewer'),
      await operators.operator('support'),
    ]
    status = 500
    await accounts.customer('stripe')
    await service.advance({})
    const waiting = await viewer.call('GET', '/deliveries?state=pending&limit=100')
    const [delivery] = waiting.body.data
    expect(delivery).toMatchObject({
      attempts: 1,
      last_error: expect.stringContaining('It answered with 500'),
    })
    const path = `/deliveries/${delivery.id}`
    expect((await viewer.call('GET', path)).status).toBe(403)
    expect((await support.call('GET', path)).body.payload).toMatchObject({ type: delivery.type })
    status = 204
    expect((await support.call('POST', `${path}/resend`)).body).toMatchObject({ id: delivery.id })
    await service.billing.process()
    expect((await support.call('GET', path)).body).toMatchObject({
      state: 'done',
      last_error: null,
    })
    expect((await support.call('POST', '/deliveries/999999/resend')).status).toBe(404)
  })

  it('can all be sent again together, if the endpoint exists', async () => {
    const support = await operators.operator('support')
    const [{ endpoint }] = (await support.call('GET', '/delivery-endpoints')).body.data
    await service.database.kysely
      .updateTable('billing_deliveries')
      .set({ state: 'dead' })
      .where('endpoint', '=', endpoint)
      .execute()
    status = 204
    const resent = await support.call('POST', '/deliveries/resend', { body: { endpoint } })
    expect(resent.body.resent).toBeGreaterThan(0)
    await service.billing.process()
    expect((await support.call('GET', '/deliveries?state=dead')).body.data).toEqual([])
    const unknown = await support.call('POST', '/deliveries/resend', {
      body: { endpoint: 'https://evil.example/' },
    })
    expect(unknown.status).toBe(404)
  })
})

describe('showPayload(), which formats a payload for operators,', () => {
  it('truncates large payloads, and returns text that is not JSON unchanged', () => {
    const large = showPayload(JSON.stringify({ text: 'x'.repeat(100_000) }))
    expect(large.payload_truncated).toBe(true)
    expect(String(large.payload)).toHaveLength(65_536)
    expect(showPayload('not JSON')).toEqual({ payload: 'not JSON', payload_truncated: false })
    expect(showPayload('null')).toEqual({ payload: null, payload_truncated: false })
  })

  it("decodes Braintree's XML, and hides its secrets", () => {
    const xml = '<n><kind>check</kind><payment-method-nonce>abc</payment-method-nonce></n>'
    const stored = JSON.stringify({
      signature: 'key|hash',
      payload: `${Buffer.from(xml).toString('base64')}\n`,
    })
    expect(showPayload(stored).payload).toBe(
      '<n><kind>check</kind><payment-method-nonce>[hidden]</payment-method-nonce></n>',
    )
  })

  it('is not slow for long runs of digits or deep nesting', () => {
    const digits = showPayload(JSON.stringify({ digits: '1'.repeat(200_000) }))
    expect(digits.payload_truncated).toBe(true)
    const deep = `${'['.repeat(5000)}${']'.repeat(5000)}`
    expect([deep, '"[nested too deeply]"']).toContain(JSON.stringify(showPayload(deep).payload))
  })
})

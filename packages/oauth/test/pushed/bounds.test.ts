import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openid, pushedRequests } from '../../src/index.ts'
import { ticketQuotas } from '../../src/limits/policies.ts'
import { createClient, requestAuthorization, type TestServer } from '../support.ts'
import { CHALLENGE, type FlowClient, push, startPushed } from './support.ts'

const PKCE = { code_challenge: CHALLENGE, code_challenge_method: 'S256' }

let server: TestServer
let app: FlowClient
beforeEach(async () => {
  server = await startPushed({
    features: [pushedRequests(), openid()],
    addressOf: (request) => request.headers.get('x-caller'),
  })
  app = await createClient(server, { confidential: false })
})
afterEach(() => server.close())

interface Stored {
  readonly hash: string
  readonly content: string
  readonly expires_at: number
  readonly kind: string
  readonly holder: string | null
}

const stored = async () =>
  (await server.database.kysely.selectFrom('oauth_tickets').selectAll().execute()) as Stored[]

/** Pushes a request as the public client from this network address. */
async function pushFrom(address: string, params: Record<string, string> = {}): Promise<string> {
  const reply = await server.post(
    '/oauth/par',
    {
      client_id: app.id,
      redirect_uri: 'https://app.example/callback',
      response_type: 'code',
      ...PKCE,
      ...params,
    },
    { 'x-caller': address },
  )
  expect(reply.status).toBe(201)
  return ((await reply.json()) as { request_uri: string }).request_uri
}

describe('a pushed request (threat Q7)', () => {
  it('is stored with only those parameters that the server uses', async () => {
    await pushFrom('192.0.2.1', {
      scope: 'openid',
      nonce: 'n-1',
      claims: '{"userinfo":{"email":null}}',
      login_hint: 'ada@example.com',
      junk: 'j'.repeat(6000),
      __proto__: 'x',
    })
    const [row, ...others] = await stored()
    expect(others).toEqual([])
    const { params } = JSON.parse(row?.content ?? '{}') as { params: [string, string][] }
    expect(params.map(([name]) => name).sort()).toEqual([
      'claims',
      'client_id',
      'code_challenge',
      'code_challenge_method',
      'login_hint',
      'nonce',
      'redirect_uri',
      'response_type',
      'scope',
    ])
    expect(row?.content.length).toBeLessThan(1000)
  })

  it('expires if the person does not open it in time, and its row is deleted by the next purge()', async () => {
    const request_uri = await pushFrom('192.0.2.1')
    const [row] = await stored()
    expect(row?.expires_at).toBe(server.clock.now().getTime() + 60_000)
    server.clock.advance({ seconds: 60 })
    expect(
      (await requestAuthorization(server, 'ada', { client_id: app.id, request_uri })).status,
    ).toBe(400)
    // The clocks of two processes may differ by a minute.
    server.clock.advance({ seconds: 61 })
    await server.oauth.purge()
    expect(await stored()).toEqual([])
  })

  it('is kept for an hour once the person has opened it in time', async () => {
    const request_uri = await pushFrom('192.0.2.1')
    const ask = () => requestAuthorization(server, 'ada', { client_id: app.id, request_uri })
    server.clock.advance({ seconds: 59 })
    expect((await ask()).status).toBe(200)
    server.clock.advance({ minutes: 59 })
    await server.oauth.purge()
    expect((await ask()).status).toBe(200)
    server.clock.advance({ minutes: 1 })
    expect((await ask()).status).toBe(400)
  })

  it('replaces only the oldest request of its own network if that network exceeds its limit', async () => {
    const first = await pushFrom('192.0.2.1')
    const others = await pushFrom('192.0.2.2')
    server.clock.advance({ seconds: 1 })
    for (let count = 0; count < ticketQuotas.pushedRequests.ofOneNetwork; count += 1) {
      await pushFrom('192.0.2.1')
    }
    const rows = await stored()
    expect(rows.filter(({ holder }) => holder === '192.0.2.1')).toHaveLength(
      ticketQuotas.pushedRequests.ofOneNetwork,
    )
    const ask = (request_uri: string) =>
      requestAuthorization(server, 'ada', { client_id: app.id, request_uri })
    expect((await ask(first)).status).toBe(400)
    expect((await ask(others)).status).toBe(200)
  })

  it('is refused with Retry-After if its network pushed too many, while other networks can still push', async () => {
    const statuses = new Set<number>()
    const ask = (address: string) =>
      server.post(
        '/oauth/par',
        { client_id: app.id, response_type: 'code', ...PKCE },
        { 'x-caller': address },
      )
    for (let count = 0; count < 300; count += 1) statuses.add((await ask('192.0.2.1')).status)
    expect([...statuses]).toEqual([201])
    const refused = await ask('192.0.2.1')
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '600'])
    expect((await ask('192.0.2.2')).status).toBe(201)
  })

  it('costs the same number of SQL statements, however many pushed requests are stored', async () => {
    const statements: string[] = []
    const own = await startPushed({
      addressOf: () => '192.0.2.1',
      connect: { onQuery: (sql) => void statements.push(sql) },
    })
    try {
      const { id } = await createClient(own, { confidential: false })
      const pushOne = async () => {
        const reply = await push(own, { id, secret: '' }, PKCE)
        expect(reply.status).toBe(201)
      }
      await pushOne()
      const countStatements = async () => {
        statements.length = 0
        await pushOne()
        return statements.filter((sql) => /oauth_(tickets|limits)/.test(sql)).length
      }
      const first = await countStatements()
      // The rate count, the row, and the share count; some databases read a count back.
      expect(first).toBeLessThanOrEqual(5)
      for (let count = 0; count < 50; count += 1) await pushOne()
      expect(await countStatements()).toBe(first)
    } finally {
      await own.close()
    }
  })

  it('does not count against the limit of its network if the client authenticated itself', async () => {
    const web = await createClient(server)
    expect((await push(server, web)).status).toBe(201)
    const [row] = await stored()
    expect(row).toMatchObject({ holder: web.id, kind: 'pushed request of client' })
  })
})

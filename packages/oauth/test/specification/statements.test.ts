import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  createClient,
  REDIRECT,
  requestAuthorization,
  runCodeFlow,
  startServer,
  type TestServer,
  type TokenReply,
} from '../support.ts'
import { bearer, guardedApp } from './guarded-app.ts'

/** MariaDB has no RETURNING on updates and no writing CTEs; only Postgres has both. */
const kind = process.env.TEST_DATABASE as 'sqlite' | 'postgres' | 'mariadb'

let server: TestServer
let client: { id: string; secret: string }
let statements: string[] = []
beforeAll(async () => {
  server = await startServer({
    // The revocation feed is read once for all requests.
    connect: { onQuery: (sql) => !sql.includes('oauth_revocations') && statements.push(sql) },
  })
  client = await createClient(server, {
    grants: ['authorization_code', 'refresh_token', 'password', 'client_credentials'],
  })
  await runCodeFlow(server, client)
})
beforeEach(() => {
  statements = []
})
afterAll(() => server.close())

const post = (path: string, form: Record<string, string>) =>
  server.post(path, { client_id: client.id, client_secret: client.secret, ...form })

async function countSentStatements(act: () => Promise<Response>, status = 200): Promise<number> {
  statements = []
  expect((await act()).status).toBe(status)
  return statements.length
}

const authorize = () =>
  requestAuthorization(server, 'ada', {
    client_id: client.id,
    redirect_uri: REDIRECT,
    response_type: 'code',
    scope: 'place-orders',
  })

describe('the number of SQL statements of a request:', () => {
  it.each([
    ['client credentials', { grant_type: 'client_credentials' }],
    [
      'password',
      { grant_type: 'password', username: 'ada@example.com', password: 'correct horse' },
    ],
  ])('1 to issue a token by the grant %s', async (_grant, form) => {
    expect(await countSentStatements(() => post('/oauth/token', form))).toBe(1)
  })

  it('1 for a refresh (2 on MariaDB)', async () => {
    const { refresh_token } = await runCodeFlow(server, client)
    const form = { grant_type: 'refresh_token', refresh_token }
    const expected = { postgres: 1, sqlite: 1, mariadb: 2 }
    expect(await countSentStatements(() => post('/oauth/token', form))).toBe(expected[kind])
  })

  it('1 for an authorization request if the consent is stored, and 1 for a first-party client', async () => {
    await authorize()
    expect(await countSentStatements(authorize, 303)).toBe(1)
    const own = await createClient(server, { firstParty: true })
    const ask = () =>
      requestAuthorization(server, 'ada', {
        client_id: own.id,
        redirect_uri: REDIRECT,
        response_type: 'code',
      })
    await ask()
    expect(await countSentStatements(ask, 303)).toBe(1)
  })

  it('2 to exchange a code (3 on SQLite, 4 on MariaDB), and one less in the process that created the code', async () => {
    const elsewhere = server.another()
    const exchange = async (fetch: (request: Request) => Promise<Response>) => {
      const { searchParams } = new URL((await authorize()).headers.get('location') ?? '')
      const body = new URLSearchParams({
        grant_type: 'authorization_code',
        code: searchParams.get('code') ?? '',
        redirect_uri: REDIRECT,
        client_id: client.id,
        client_secret: client.secret,
      })
      const request = new Request(`${server.url}/oauth/token`, { method: 'POST', body })
      return countSentStatements(() => fetch(request))
    }
    // The first exchange there also reads the client and the keys.
    await exchange(elsewhere.fetch)
    const expected = { postgres: 2, sqlite: 3, mariadb: 4 }
    expect(await exchange(elsewhere.fetch)).toBe(expected[kind])
    expect(await exchange(server.oauth.fetch)).toBe(expected[kind] - 1)
  })

  it('0 for a guarded request', async () => {
    const { access_token } = await runCodeFlow(server, client)
    const app = guardedApp(server)
    for (let round = 0; round < 3; round += 1) {
      expect(await countSentStatements(() => app.get('/any', bearer(access_token)))).toBe(0)
    }
    expect(await countSentStatements(() => app.get('/any', bearer(`${access_token}x`)), 401)).toBe(
      0,
    )
  })

  it('1 at most for introspection', async () => {
    const tokens: TokenReply = await runCodeFlow(server, client)
    for (const token of [tokens.access_token, tokens.refresh_token, 'nonsense']) {
      const count = await countSentStatements(() => post('/oauth/introspect', { token }))
      expect(count).toBeLessThanOrEqual(1)
    }
  })
})

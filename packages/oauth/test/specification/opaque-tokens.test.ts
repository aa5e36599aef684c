import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createClient, runCodeFlow, startServer, type TestServer } from '../support.ts'
import { bearer, guardedApp } from './guarded-app.ts'

let statements: string[] = []
let server: TestServer
let client: Awaited<ReturnType<typeof createClient>>
let app: ReturnType<typeof guardedApp>
beforeAll(async () => {
  server = await startServer({
    accessTokenFormat: 'opaque',
    accessTokensExpireIn: '1h',
    connect: { onQuery: (sql) => !sql.includes('oauth_revocations') && statements.push(sql) },
  })
  client = await createClient(server)
  app = guardedApp(server)
})
afterAll(() => server.close())
beforeEach(() => {
  statements = []
})

const status = async (token: string) => (await app.get('/any', bearer(token))).status

async function refresh(refreshToken: string, scope?: string) {
  const reply = await server.post('/oauth/token', {
    grant_type: 'refresh_token',
    refresh_token: refreshToken,
    client_id: client.id,
    client_secret: client.secret,
    ...(scope ? { scope } : {}),
  })
  return reply.json()
}

async function introspect(token: string) {
  const { id: client_id, secret: client_secret } = client
  const reply = await server.post('/oauth/introspect', { client_id, client_secret, token })
  return reply.json()
}

describe('opaque access tokens', () => {
  it('cost one database read if they are valid, and none if they are forged', async () => {
    const { access_token } = await runCodeFlow(server, client)
    statements = []
    expect(await status(access_token)).toBe(200)
    expect(statements).toHaveLength(1)
    expect(await status(access_token)).toBe(200)
    expect(
      await status(`${access_token.slice(0, -1)}${access_token.endsWith('A') ? 'B' : 'A'}`),
    ).toBe(401)
    expect(await status(access_token.replace('tga_0', 'tga_1'))).toBe(401)
    expect(statements).toHaveLength(1)
  })

  it('keep their lifetime and scopes when the grant is refreshed', async () => {
    const first = await runCodeFlow(server, client, { scope: 'place-orders check-status' })
    const before = await introspect(first.access_token)
    server.clock.advance({ seconds: 1800 })
    const second = await refresh(first.refresh_token, 'check-status')
    expect(await introspect(first.access_token)).toEqual(before)
    expect(await introspect(second.access_token)).toMatchObject({
      active: true,
      sub: before.sub,
      scope: 'check-status',
      exp: before.exp + 1800,
    })
    server.clock.advance({ seconds: 1800 })
    expect(await status(first.access_token)).toBe(401)
    expect(await status(second.access_token)).toBe(200)
  })

  it.each(['jwt', 'opaque'] as const)(
    'stay valid, as do JWTs, if the format of new tokens is changed (here to: %s)',
    async (format) => {
      const other = server.another({ accessTokenFormat: format })
      await other.ready()
      const signed = server.another({ accessTokenFormat: 'jwt' })
      const jwt = await signed.tokens.createPersonal({ userId: 'ada', name: 'x', scopes: [] })
      const { access_token: opaque } = await runCodeFlow(server, client)
      for (const token of [jwt.accessToken, opaque]) {
        const caller = await other.guard.authenticate('api', {
          authorization: `Bearer ${token}`,
          cookie: null,
          csrfToken: null,
        })
        expect(caller.id).toBe('ada')
      }
    },
  )

  it('become invalid when they are revoked, whether cached or not, and when their row is deleted', async () => {
    const [seen, unseen, gone] = [
      await runCodeFlow(server, client),
      await runCodeFlow(server, client),
      await runCodeFlow(server, client),
    ]
    expect(await status(seen.access_token)).toBe(200)
    for (const { access_token: token } of [seen, unseen]) {
      const { id: client_id, secret: client_secret } = client
      await server.post('/oauth/revoke', { client_id, client_secret, token })
      expect(await status(token)).toBe(401)
      expect(await introspect(token)).toEqual({ active: false })
    }
    await server.database.kysely.deleteFrom('oauth_tokens').execute()
    expect(await status(gone.access_token)).toBe(401)
  })
})

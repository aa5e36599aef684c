import { afterEach, expect, it } from 'vitest'
import type { AuthorizationServer } from '../../src/index.ts'
import {
  createClient,
  runCodeFlow,
  startServer,
  type TestServer,
  type TestUser,
} from '../support.ts'

let server: TestServer
afterEach(() => server.close())

const HOUR = 3_600_000
const NOTHING = { authorization: null, cookie: null, csrfToken: null }

async function statusOf(oauth: AuthorizationServer<TestUser>, credentials: object) {
  try {
    await oauth.guard.authenticate('api', { ...NOTHING, ...credentials })
    return 200
  } catch (error) {
    return oauth.guard.refusal(error).status
  }
}

it('a revoked token whose row was lost from the database is still refused by the process that revoked it (threat N1)', async () => {
  server = await startServer()
  const client = await createClient(server)
  const { access_token: token } = await runCodeFlow(server, client)
  const authorization = `Bearer ${token}`
  expect(await statusOf(server.oauth, { authorization })).toBe(200)
  await server.database.kysely.deleteFrom('oauth_tokens').execute()
  await server.post('/oauth/revoke', { client_id: client.id, client_secret: client.secret, token })
  expect(await statusOf(server.oauth, { authorization })).toBe(401)
})

it('a revocation that is repeated stays in the revocation feed while the refresh token could be valid (threat N1)', async () => {
  server = await startServer({ accessTokensExpireIn: '1h', refreshTokensExpireIn: '5h' })
  const client = await createClient(server)
  const { access_token: token } = await runCodeFlow(server, client)
  const credentials = { client_id: client.id, client_secret: client.secret }
  for (let i = 0; i < 2; i += 1) await server.post('/oauth/revoke', { ...credentials, token })
  const feed = server.database.kysely.selectFrom('oauth_revocations').select('until')
  const kept = await feed.where('kind', '=', 'token').execute()
  const until = Math.floor((server.clock.now().getTime() + 5 * HOUR) / 1000)
  expect(kept.map((row) => Math.floor(Number(row.until) / 1000))).toEqual([until, until])
})

it('the cookie of cookie mode is refused by every process after its session has ended (threat G6)', async () => {
  server = await startServer()
  const credentials = await server.cookieMode('ada')
  const elsewhere = server.another()
  expect(await statusOf(elsewhere, credentials)).toBe(200)
  await server.oauth.endSession('ada.1')
  expect(await statusOf(server.oauth, credentials)).toBe(401)
  await expect.poll(() => statusOf(elsewhere, credentials)).toBe(401)
})

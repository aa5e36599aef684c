import { afterEach, describe, expect, it } from 'vitest'
import type { AuthorizationServer } from '../../src/index.ts'
import { refreshCall } from '../processes/service.ts'
import {
  createClient,
  REDIRECT,
  requestAuthorization,
  runCodeFlow,
  startServer,
  type TestServer,
  type TestUser,
} from '../support.ts'

let server: TestServer
afterEach(() => server.close())

async function statusOf(oauth: AuthorizationServer<TestUser>, credentials: object) {
  const nothing = { authorization: null, cookie: null, csrfToken: null }
  try {
    await oauth.guard.authenticate('api', { ...nothing, ...credentials })
    return 200
  } catch (error) {
    return oauth.guard.refusal(error).status
  }
}

describe.each(['jwt', 'opaque'] as const)(
  'endEverything() after a database restore, with %s tokens (threat N1)',
  (format) => {
    it('invalidates in every process everything that was issued before, and lets people sign in again', async () => {
      server = await startServer({ accessTokenFormat: format })
      const elsewhere = server.another()
      const client = await createClient(server)
      const tokens = await runCodeFlow(server, client)
      const lost = await runCodeFlow(server, client, { user: 'bob' })
      const personal = await server.oauth.tokens.createPersonal({ userId: 'ada', name: 'script' })
      const cookie = await server.cookieMode('ada')
      const ask = () =>
        requestAuthorization(server, 'ada', {
          client_id: client.id,
          redirect_uri: REDIRECT,
          response_type: 'code',
          scope: 'place-orders',
        })
      const code =
        new URL((await ask()).headers.get('location') ?? '').searchParams.get('code') ?? ''
      const bearers = [tokens.access_token, lost.access_token, personal.accessToken].map(
        (text) => ({
          authorization: `Bearer ${text}`,
        }),
      )
      for (const credentials of [...bearers, cookie]) {
        expect(await statusOf(elsewhere, credentials)).toBe(200)
      }
      // Issued after the backup: the restored database has no row for it.
      await server.database.kysely.deleteFrom('oauth_tokens').where('user_id', '=', 'bob').execute()

      expect(await server.oauth.countEverything()).toEqual({
        tokens: 2,
        personalAccessTokens: 1,
        codes: 1,
        interactions: 0,
        consents: 2,
        keys: 1,
      })
      await server.oauth.endEverything()
      for (const oauth of [server.oauth, elsewhere]) {
        for (const credentials of [...bearers, cookie]) {
          await expect.poll(() => statusOf(oauth, credentials)).toBe(401)
        }
      }
      for (const { refresh_token } of [tokens, lost]) {
        const { path, form = {} } = refreshCall(client, refresh_token)
        expect((await server.post(path, form)).status).toBe(400)
      }
      const exchange = { grant_type: 'authorization_code', redirect_uri: REDIRECT, code }
      const credentials = { client_id: client.id, client_secret: client.secret }
      expect((await server.post('/oauth/token', { ...credentials, ...exchange })).status).toBe(400)
      // A consent that was withdrawn after the backup must not take effect again.
      expect((await ask()).status).toBe(200)

      const fresh = await runCodeFlow(server, client)
      const session = await server.cookieMode('ada')
      for (const oauth of [server.oauth, elsewhere]) {
        const authorization = `Bearer ${fresh.access_token}`
        await expect.poll(() => statusOf(oauth, { authorization })).toBe(200)
        await expect.poll(() => statusOf(oauth, session)).toBe(200)
      }
      // Repeated, as after a crash half way.
      await server.oauth.endEverything()
      await expect.poll(() => statusOf(elsewhere, session)).toBe(401)
    })
  },
)

describe('a leaked signing key (threat M4)', () => {
  it('is rejected by every process within a second, and no key from before the leak signs again', async () => {
    server = await startServer()
    const elsewhere = server.another()
    const [first] = await server.oauth.keys.list()
    server.clock.advance({ seconds: 1 })
    const { kid } = await server.oauth.keys.rotate({ immediately: true })
    const { accessToken } = await server.oauth.tokens.createPersonal({ userId: 'ada', name: 'x' })
    const credentials = { authorization: `Bearer ${accessToken}` }
    expect(await statusOf(elsewhere, credentials)).toBe(200)
    server.clock.advance({ seconds: 1 })
    expect(await elsewhere.keys.revoke(kid)).toBe(true)
    for (const oauth of [elsewhere, server.oauth]) {
      await expect.poll(() => statusOf(oauth, credentials)).toBe(401)
      const after = await oauth.tokens.createPersonal({ userId: 'ada', name: 'y' })
      const [header = ''] = after.accessToken.split('.')
      const signedBy = JSON.parse(Buffer.from(header, 'base64url').toString()).kid
      expect([kid, first?.kid]).not.toContain(signedBy)
    }
  })
})

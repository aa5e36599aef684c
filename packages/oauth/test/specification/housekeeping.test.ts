import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import {
  createClient,
  REDIRECT,
  requestAuthorization,
  runCodeFlow,
  startServer,
  type TestServer,
} from '../support.ts'
import { bearer, guardedApp } from './guarded-app.ts'
import { countRows, expectNoChange } from './rows.ts'

let server: TestServer
beforeAll(async () => {
  server = await startServer({
    purgeEvery: false,
    accessTokensExpireIn: '15d',
    refreshTokensExpireIn: '30d',
  })
})
afterAll(() => server.close())

describe('purge()', () => {
  it('never deletes a valid record', async () => {
    const client = await createClient(server)
    await runCodeFlow(server, client)
    await server.oauth.tokens.createPersonal({ userId: 'ada', name: 'laptop' })
    await requestAuthorization(server, 'ada', {
      client_id: client.id,
      redirect_uri: REDIRECT,
      response_type: 'code',
      prompt: 'consent',
    })
    expect(await expectNoChange(server, () => server.oauth.purge())).toBe(0)
  })

  it('deletes used and expired codes and approval requests', async () => {
    server.clock.advance({ days: 2 })
    expect(await server.oauth.purge()).toBeGreaterThan(0)
    expect(await countRows(server, 'oauth_authorization_codes')).toBe(0)
    expect(await countRows(server, 'oauth_interactions')).toBe(0)
    expect(await countRows(server, 'oauth_tokens')).toBe(2)
  })

  it('keeps a token whose refresh token is still valid (threat R1)', async () => {
    const client = await createClient(server)
    const { refresh_token } = await runCodeFlow(server, client)
    server.clock.advance({ days: 29 })
    await server.oauth.purge()
    const reply = await server.post('/oauth/token', {
      grant_type: 'refresh_token',
      refresh_token,
      client_id: client.id,
      client_secret: client.secret,
    })
    expect(reply.status).toBe(200)
  })

  it('deletes expired tokens, and keeps those with a lifetime of a year', async () => {
    server.clock.advance({ days: 60 })
    await server.oauth.purge()
    const left = await server.oauth.tokens.listByUser('ada')
    expect(left.map(({ grantType }) => grantType)).toEqual(['personal_access'])
    expect(await countRows(server, 'oauth_tokens')).toBe(1)
  })

  it('deletes revoked tokens, which are still rejected afterwards', async () => {
    const { accessToken, token } = await server.oauth.tokens.createPersonal({
      userId: 'ada',
      name: 'lost laptop',
    })
    await server.oauth.tokens.revoke(token.id)
    server.clock.advance({ days: 2 })
    await server.oauth.purge()
    expect(await server.oauth.tokens.find(token.id)).toBeNull()
    expect((await guardedApp(server).get('/me', bearer(accessToken))).status).toBe(401)
  })

  it('keeps clients, consents and keys', async () => {
    const before = await Promise.all(
      (['oauth_clients', 'oauth_consents', 'oauth_keys'] as const).map((table) =>
        countRows(server, table),
      ),
    )
    expect(before.every((count) => count > 0)).toBe(true)
    server.clock.advance({ years: 5 })
    await server.oauth.purge()
    const after = await Promise.all(
      (['oauth_clients', 'oauth_consents', 'oauth_keys'] as const).map((table) =>
        countRows(server, table),
      ),
    )
    expect(after).toEqual(before)
    expect(await countRows(server, 'oauth_tokens')).toBe(0)
  })

  it('is run periodically by the server', async () => {
    const scheduled = await startServer({ purgeEvery: 1 })
    try {
      await runCodeFlow(scheduled, await createClient(scheduled))
      scheduled.clock.advance({ years: 2 })
      await vi.waitFor(async () => expect(await countRows(scheduled, 'oauth_tokens')).toBe(0), {
        timeout: 20_000,
        interval: 200,
      })
    } finally {
      await scheduled.close()
    }
  })
})

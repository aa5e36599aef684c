import { afterEach, describe, expect, it } from 'vitest'
import type { Lifetime } from '../../src/index.ts'
import {
  createClient,
  runCodeFlow,
  startServer,
  type TestServer,
  type TestServerOptions,
  type TokenReply,
} from '../support.ts'
import { bearer, guardedApp } from './guarded-app.ts'

const DAY = 24 * 3600
const YEAR = 365 * DAY

let server: TestServer
afterEach(() => server.close())
const start = async (options: TestServerOptions = {}) => {
  server = await startServer(options)
}

const isAccepted = async (token: string) =>
  (await guardedApp(server).get('/me', bearer(token))).status === 200

function refresh(client: { id: string; secret: string }, token: string): Promise<Response> {
  return server.post('/oauth/token', {
    grant_type: 'refresh_token',
    refresh_token: token,
    client_id: client.id,
    client_secret: client.secret,
  })
}

async function createPersonal(): Promise<{ accessToken: string; token: { expires_at: string } }> {
  const body = { name: 'laptop', scopes: [] }
  return (await server.json('ada', 'POST', '/oauth/personal-access-tokens', body)).json()
}

describe('the lifetimes and scopes of tokens:', () => {
  it('access tokens are valid for a year by default, without a refresh', async () => {
    await start()
    const { access_token, expires_in } = await runCodeFlow(server, await createClient(server))
    expect(expires_in).toBe(YEAR)
    server.clock.advance({ seconds: YEAR - 1 })
    expect(await isAccepted(access_token)).toBe(true)
    server.clock.advance({ seconds: 1 })
    expect(await isAccepted(access_token)).toBe(false)
  })

  const after = (seconds: number) => new Date(server.clock.now().getTime() + seconds * 1000)

  it.each<[string, Lifetime]>([
    ["'15d'", '15d'],
    ['seconds', 15 * DAY],
    ['a function', () => after(15 * DAY)],
  ])('access tokens have a configurable lifetime: %s', async (_what, accessTokensExpireIn) => {
    await start({ accessTokensExpireIn })
    const { access_token, expires_in } = await runCodeFlow(server, await createClient(server))
    expect(expires_in).toBe(15 * DAY)
    server.clock.advance({ seconds: 15 * DAY - 1 })
    expect(await isAccepted(access_token)).toBe(true)
    server.clock.advance({ seconds: 1 })
    expect(await isAccepted(access_token)).toBe(false)
  })

  it.each<[string, Lifetime]>([
    ["'30d'", '30d'],
    ['seconds', 30 * DAY],
    ['a function', () => after(30 * DAY)],
  ])('refresh tokens have a configurable lifetime: %s', async (_what, refreshTokensExpireIn) => {
    await start({ accessTokensExpireIn: '15d', refreshTokensExpireIn })
    const client = await createClient(server)
    const [inTime, late] = [await runCodeFlow(server, client), await runCodeFlow(server, client)]
    server.clock.advance({ seconds: 30 * DAY - 1 })
    expect(await isAccepted(late.access_token)).toBe(false)
    const refreshed = await refresh(client, inTime.refresh_token)
    expect(((await refreshed.json()) as TokenReply).expires_in).toBe(15 * DAY)
    server.clock.advance({ seconds: 1 })
    const reply = await refresh(client, late.refresh_token)
    expect(reply.status).toBe(400)
    expect(await reply.json()).toMatchObject({ error: 'invalid_grant' })
  })

  it('personal access tokens have a long lifetime, whatever the other lifetimes are', async () => {
    await start({ accessTokensExpireIn: '15d', refreshTokensExpireIn: '30d' })
    const { accessToken, token } = await createPersonal()
    expect(token.expires_at).toBe('2027-01-01T00:00:00.000Z')
    server.clock.advance({ days: 364 })
    expect(await isAccepted(accessToken)).toBe(true)
  })

  it('a lifetime function that returns a date in the past causes a server error, and no token is issued', async () => {
    await start({ accessTokensExpireIn: () => new Date(0) })
    const client = await createClient(server, { grants: ['client_credentials'] })
    const reply = await server.post('/oauth/token', {
      grant_type: 'client_credentials',
      client_id: client.id,
      client_secret: client.secret,
    })
    expect(reply.status).toBe(500)
    expect(await reply.json()).toEqual({
      error: 'server_error',
      error_description: 'The server could not complete the request',
    })
    expect(server.logged).toHaveLength(1)
  })

  it('only tokens of the password grant can have the scope *', async () => {
    await start()
    const grants = [
      'authorization_code',
      'refresh_token',
      'password',
      'client_credentials',
    ] as const
    const client = await createClient(server, { grants })
    const post = async (form: Record<string, string>) =>
      (
        await server.post('/oauth/token', {
          client_id: client.id,
          client_secret: client.secret,
          scope: '*',
          ...form,
        })
      ).json()
    const user = { username: 'ada@example.com', password: 'correct horse' }
    const all: TokenReply = await post({ grant_type: 'password', ...user })
    expect(all.scope).toBe('*')
    expect(await post({ grant_type: 'client_credentials' })).toMatchObject({
      error: 'invalid_scope',
    })
    const { refresh_token } = await runCodeFlow(server, client)
    expect(await post({ grant_type: 'refresh_token', refresh_token })).toMatchObject({
      error: 'invalid_scope',
    })
    const body = { name: 'laptop', scopes: ['*'] }
    const personal = await server.json('ada', 'POST', '/oauth/personal-access-tokens', body)
    expect(personal.status).toBe(422)
  })

  it('a token with the scope * passes every scope check, even for undefined scopes', async () => {
    await start()
    const client = await createClient(server, { grants: ['password', 'refresh_token'] })
    const reply = await server.post('/oauth/token', {
      grant_type: 'password',
      client_id: client.id,
      client_secret: client.secret,
      username: 'ada@example.com',
      password: 'correct horse',
      scope: '*',
    })
    const tokens: TokenReply = await reply.json()
    const user = await server.oauth.guard.authenticate('api', {
      authorization: `Bearer ${tokens.access_token}`,
      cookie: null,
      csrfToken: null,
    })
    expect(user.tokenCan('place-orders')).toBe(true)
    expect(user.tokenCan('anything')).toBe(true)
    expect((await guardedApp(server).get('/all', bearer(tokens.access_token))).status).toBe(200)
  })

  it('tokens of the password grant keep the scope * at a refresh, which can also reduce the scopes', async () => {
    await start()
    const client = await createClient(server, { grants: ['password', 'refresh_token'] })
    const form = { client_id: client.id, client_secret: client.secret }
    const first: TokenReply = await (
      await server.post('/oauth/token', {
        ...form,
        grant_type: 'password',
        username: 'ada@example.com',
        password: 'correct horse',
        scope: '*',
      })
    ).json()
    const second: TokenReply = await (await refresh(client, first.refresh_token)).json()
    expect(second.scope).toBe('*')
    const narrowed = await server.post('/oauth/token', {
      ...form,
      grant_type: 'refresh_token',
      refresh_token: second.refresh_token,
      scope: 'check-status',
    })
    expect(await narrowed.json()).toMatchObject({ scope: 'check-status' })
  })

  it('a client limited to certain scopes gets neither * nor any other scope', async () => {
    await start()
    const client = await createClient(server, { grants: ['password'], scopes: ['check-status'] })
    for (const scope of ['*', 'place-orders']) {
      const reply = await server.post('/oauth/token', {
        grant_type: 'password',
        client_id: client.id,
        client_secret: client.secret,
        username: 'ada@example.com',
        password: 'correct horse',
        scope,
      })
      expect(await reply.json()).toMatchObject({ error: 'invalid_scope' })
    }
  })
})

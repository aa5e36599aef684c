import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { actingAs } from '../../src/testing/index.ts'
import {
  createClient,
  REDIRECT,
  requestAuthorization,
  runCodeFlow,
  startServer,
  submitApprovalDecision,
  type TestServer,
  type TokenReply,
} from '../support.ts'
import { bearer, type GuardedApp, guardedApp } from './guarded-app.ts'

let server: TestServer
let app: GuardedApp
beforeAll(async () => {
  server = await startServer()
  app = guardedApp(server)
})
afterAll(() => server.close())

async function passwordToken(scope: string): Promise<TokenReply> {
  const client = await createClient(server, { grants: ['password', 'refresh_token'] })
  const reply = await server.post('/oauth/token', {
    grant_type: 'password',
    client_id: client.id,
    client_secret: client.secret,
    username: 'ada@example.com',
    password: 'correct horse',
    scope,
  })
  return reply.json()
}

describe('the authentication of clients and users', () => {
  it('the guard "api" admits only callers with a valid token', async () => {
    const { access_token } = await runCodeFlow(server, await createClient(server))
    expect((await app.get('/me', bearer(access_token))).status).toBe(200)
    expect((await app.get('/me')).status).toBe(401)
    expect((await app.get('/me', bearer(`${access_token}x`))).status).toBe(401)
  })

  it('the access token is sent in the Authorization header as Bearer', async () => {
    const { access_token } = await runCodeFlow(server, await createClient(server))
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
      const headers = { authorization: `${scheme} ${access_token}` }
      expect((await app.get('/me', headers)).status).toBe(200)
    }
    expect((await app.get(`/me?access_token=${access_token}`)).status).toBe(401)
  })

  it('client_id and client_secret are sent at POST /oauth/token', async () => {
    const client = await createClient(server, { grants: ['client_credentials'] })
    const form = { grant_type: 'client_credentials', client_id: client.id }
    const good = await server.post('/oauth/token', { ...form, client_secret: client.secret })
    expect(good.status).toBe(200)
    for (const secret of ['', 'wrong', client.secret.slice(0, -1), client.secret.toUpperCase()]) {
      const reply = await server.post('/oauth/token', { ...form, client_secret: secret })
      expect(reply.status).toBe(401)
      expect(await reply.json()).toMatchObject({ error: 'invalid_client' })
    }
  })

  it('the implicit grant uses only the client ID', async () => {
    const client = await createClient(server, { confidential: false, grants: ['implicit'] })
    const page = await requestAuthorization(server, 'ada', {
      client_id: client.id,
      redirect_uri: REDIRECT,
      response_type: 'token',
      scope: 'place-orders',
    })
    const { hash } = await submitApprovalDecision(server, 'ada', page)
    const token = new URLSearchParams(hash.slice(1)).get('access_token') ?? ''
    const me = await app.get('/me', bearer(token))
    expect(await me.json()).toEqual({ id: 'ada', email: 'ada@example.com', orders: true })
  })

  it('the password grant takes username and password, and works only for a client that has this grant', async () => {
    const { access_token } = await passwordToken('place-orders')
    const me = await app.get('/me', bearer(access_token))
    expect(await me.json()).toMatchObject({ id: 'ada' })
    const other = await createClient(server)
    const refused = await server.post('/oauth/token', {
      grant_type: 'password',
      client_id: other.id,
      client_secret: other.secret,
      username: 'ada@example.com',
      password: 'correct horse',
    })
    expect(await refused.json()).toMatchObject({ error: 'unauthorized_client' })
  })

  it('personal access tokens belong to a personal access client', async () => {
    const body = { name: 'laptop', scopes: ['check-status'] }
    const reply = await server.json('ada', 'POST', '/oauth/personal-access-tokens', body)
    const { accessToken, token } = await reply.json()
    expect(token.client).toMatchObject({ personal_access_client: true })
    const me = await app.get('/me', bearer(accessToken))
    expect(await me.json()).toMatchObject({ id: 'ada', orders: false })
  })

  it('the personal access client, to which personal access tokens belong, cannot authenticate', async () => {
    await server.oauth.tokens.createPersonal({ userId: 'ada', name: 'any' })
    for (const grant_type of ['client_credentials', 'password', 'refresh_token']) {
      const form = { grant_type, client_id: 'personal-access', refresh_token: 'x' }
      const reply = await server.post('/oauth/token', form)
      expect(await reply.json()).toMatchObject({ error: 'unauthorized_client' })
    }
  })

  /** The scopes of the token, then whether `scopes(…)` (all) and `scope(…)` (any) accept it. */
  it.each([
    ['', 403, 403, false],
    ['place-orders', 403, 200, true],
    ['check-status', 403, 200, false],
    ['place-orders check-status', 200, 200, true],
    ['*', 200, 200, true],
  ])(
    'a token with the scopes "%s" gets the status %i from a scopes() route and %i from a scope() route (tokenCan() returns %s)',
    async (scope, all, any, can) => {
      const { access_token } = await passwordToken(scope)
      expect((await app.get('/all', bearer(access_token))).status).toBe(all)
      expect((await app.get('/any', bearer(access_token))).status).toBe(any)
      const me = await app.get('/me', bearer(access_token))
      expect(await me.json()).toMatchObject({ orders: can })
    },
  )

  it('scopes are defined by the application as a map of name to description', async () => {
    const own = await startServer({ scopes: { 'read:mail': 'Read your mail' } })
    try {
      expect(await (await own.json('ada', 'GET', '/oauth/scopes')).json()).toEqual([
        { id: 'read:mail', description: 'Read your mail' },
      ])
    } finally {
      await own.close()
    }
  })

  it('a client that acts for itself is never mistaken for a user, nor a user for a client', async () => {
    const client = await createClient(server, { grants: ['client_credentials'] })
    const reply = await server.post('/oauth/token', {
      grant_type: 'client_credentials',
      client_id: client.id,
      client_secret: client.secret,
    })
    const machine = bearer(((await reply.json()) as TokenReply).access_token)
    const person = bearer((await passwordToken('')).access_token)
    expect((await app.get('/machine', machine)).status).toBe(200)
    expect((await app.get('/me', machine)).status).toBe(401)
    expect((await app.get('/machine', person)).status).toBe(401)
  })

  it('actingAs() makes a request as a user with the given scopes', async () => {
    const headers = { ...(await actingAs(server.oauth, { id: 'ada' }, ['place-orders'])) }
    expect(await (await app.get('/me', headers)).json()).toMatchObject({ id: 'ada', orders: true })
    expect((await app.get('/all', headers)).status).toBe(403)
    const all = { ...(await actingAs(server.oauth, { id: 'ada' }, ['*'])) }
    expect((await app.get('/all', all)).status).toBe(200)
  })
})

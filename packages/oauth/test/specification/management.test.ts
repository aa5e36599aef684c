import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ClientJson, TokenJson } from '../../src/index.ts'
import { createClient, REDIRECT, runCodeFlow, startServer, type TestServer } from '../support.ts'
import { bearer, guardedApp } from './guarded-app.ts'
import { expectNoChange } from './rows.ts'

let server: TestServer
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.close())

type Created = ClientJson & { secret: string }

async function addClient(user = 'ada', name = 'Shop'): Promise<Created> {
  const reply = await server.json(user, 'POST', '/oauth/clients', { name, redirect: REDIRECT })
  return reply.json()
}

async function addToken(user = 'ada', name = 'laptop', scopes: string[] = ['place-orders']) {
  const reply = await server.json(user, 'POST', '/oauth/personal-access-tokens', { name, scopes })
  return (await reply.json()) as { accessToken: string; token: TokenJson }
}

async function list<T>(user: string, path: string): Promise<T[]> {
  return (await server.json(user, 'GET', path)).json()
}

const CLIENT_FIELDS = [
  'id',
  'user_id',
  'name',
  'redirect',
  'personal_access_client',
  'password_client',
  'confidential',
  'revoked',
  'created_at',
  'updated_at',
]
const TOKEN_FIELDS = [
  'id',
  'user_id',
  'client_id',
  'client',
  'name',
  'scopes',
  'revoked',
  'created_at',
  'updated_at',
  'expires_at',
  'last_used_at',
]

describe('the routes for clients:', () => {
  it('GET /oauth/clients returns all clients of the authenticated user', async () => {
    const names = ['Zebra', 'Apple', 'Mango']
    for (const name of names) await addClient('ada', name)
    await addClient('bob', 'Not hers')
    const clients = await list<ClientJson>('ada', '/oauth/clients')
    expect(clients.map(({ name }) => name)).toEqual(['Apple', 'Mango', 'Zebra'])
    for (const client of clients) {
      expect(Object.keys(client)).toEqual(CLIENT_FIELDS)
      expect(client.user_id).toBe('ada')
    }
  })

  it('POST /oauth/clients returns the new client with id and secret', async () => {
    const body = { name: 'Coffee shop', redirect: REDIRECT }
    const reply = await server.json('ada', 'POST', '/oauth/clients', body)
    expect(reply.status).toBe(201)
    expect(reply.headers.get('cache-control')).toBe('no-store')
    const client = await reply.json()
    expect(client).toEqual({
      ...body,
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      user_id: 'ada',
      personal_access_client: false,
      password_client: false,
      confidential: true,
      revoked: false,
      created_at: server.clock.now().toISOString(),
      updated_at: server.clock.now().toISOString(),
      secret: expect.stringMatching(/^tgs_[\w-]{43}$/),
    })
    await runCodeFlow(server, client)
  })

  it('POST /oauth/clients returns the secret, of which only a hash is stored, and no later response contains it', async () => {
    const { id, secret } = await addClient()
    const lists = JSON.stringify(await list('ada', '/oauth/clients'))
    expect(lists).toContain(id)
    expect(lists).not.toContain('secret')
    const rows = await server.database.kysely.selectFrom('oauth_clients').selectAll().execute()
    expect(JSON.stringify(rows)).not.toContain(secret)
  })

  it('POST /oauth/clients creates public clients without a secret', async () => {
    const body = { name: 'App', redirect: 'com.example.app:/cb', confidential: false }
    const reply = await server.json('ada', 'POST', '/oauth/clients', body)
    const client = await reply.json()
    expect(client).toMatchObject({ confidential: false, redirect: 'com.example.app:/cb' })
    expect(client).not.toHaveProperty('secret')
  })

  it('POST /oauth/clients accepts only documented fields (threat M2)', async () => {
    const reply = await server.json('ada', 'POST', '/oauth/clients', {
      name: 'Greedy',
      redirect: REDIRECT,
      id: 'mine',
      user_id: 'bob',
      userId: 'bob',
      firstParty: true,
      first_party: true,
      resourceServer: true,
      password_client: true,
      grants: ['password'],
      secret: 'chosen',
    })
    const { id, secret } = await reply.json()
    expect(id).not.toBe('mine')
    expect(secret).not.toBe('chosen')
    expect(await server.oauth.clients.find(id)).toMatchObject({
      userId: 'ada',
      firstParty: false,
      resourceServer: false,
      grantTypes: ['authorization_code', 'refresh_token'],
    })
  })

  it('PUT /oauth/clients/{client-id} returns the updated client', async () => {
    const { secret, ...client } = await addClient()
    server.clock.advance({ seconds: 60 })
    const change = { name: 'New name', redirect: 'https://app.example/new' }
    const reply = await server.json('ada', 'PUT', `/oauth/clients/${client.id}`, change)
    expect(reply.status).toBe(200)
    const updated_at = server.clock.now().toISOString()
    expect(await reply.json()).toEqual({ ...client, ...change, updated_at })
    expect(await list('ada', '/oauth/clients')).toContainEqual({ ...client, ...change, updated_at })
    expect(secret).toMatch(/^tgs_/)
  })

  it('DELETE /oauth/clients/{client-id} deletes the client with its tokens and codes', async () => {
    const client = await addClient()
    const tokens = await runCodeFlow(server, client)
    const reply = await server.json('ada', 'DELETE', `/oauth/clients/${client.id}`)
    expect(reply.status).toBe(204)
    expect(await reply.text()).toBe('')
    const left = await list<ClientJson>('ada', '/oauth/clients')
    expect(left.map(({ id }) => id)).not.toContain(client.id)
    expect((await guardedApp(server).get('/me', bearer(tokens.access_token))).status).toBe(401)
    const refresh = await server.post('/oauth/token', {
      grant_type: 'refresh_token',
      refresh_token: tokens.refresh_token,
      client_id: client.id,
      client_secret: client.secret,
    })
    expect(refresh.status).toBe(401)
  })

  it('POST /oauth/clients/{id}/secret returns a new secret; the old one stops working', async () => {
    const client = await addClient()
    const tokens = await runCodeFlow(server, client)
    const reply = await server.json('ada', 'POST', `/oauth/clients/${client.id}/secret`)
    expect(reply.status).toBe(200)
    const { secret } = await reply.json()
    expect(secret).not.toBe(client.secret)
    const form = {
      grant_type: 'refresh_token',
      refresh_token: tokens.refresh_token,
      client_id: client.id,
    }
    const old = await server.post('/oauth/token', { ...form, client_secret: client.secret })
    expect(old.status).toBe(401)
    const stale = await server.post('/oauth/token', { ...form, client_secret: secret })
    expect(await stale.json()).toMatchObject({ error: 'invalid_grant' })
    await runCodeFlow(server, { id: client.id, secret })
  })
})

describe('the route for scopes:', () => {
  it('GET /oauth/scopes returns all scopes in definition order, without *', async () => {
    const reply = await server.json('ada', 'GET', '/oauth/scopes')
    expect(reply.status).toBe(200)
    expect(await reply.json()).toEqual([
      { id: 'place-orders', description: 'Place orders' },
      { id: 'check-status', description: 'Check order status' },
    ])
  })
})

describe('the routes for personal access tokens:', () => {
  it('GET returns all personal access tokens of the authenticated user, newest first', async () => {
    for (const name of ['first', 'second', 'third']) {
      await addToken('ada', name)
      server.clock.advance({ seconds: 1 })
    }
    await addToken('bob', 'not hers')
    await runCodeFlow(server, await createClient(server))
    const tokens = await list<TokenJson>('ada', '/oauth/personal-access-tokens')
    expect(tokens.map(({ name }) => name)).toEqual(['third', 'second', 'first'])
    for (const token of tokens) {
      expect(Object.keys(token)).toEqual(TOKEN_FIELDS)
      expect(token.client).toMatchObject({ personal_access_client: true })
    }
  })

  it('POST reports all invalid fields together', async () => {
    const body = { name: '\u200b', scopes: ['fly', 'place-orders', '*'] }
    const reply = await server.json('ada', 'POST', '/oauth/personal-access-tokens', body)
    expect(reply.status).toBe(422)
    expect(await reply.json()).toMatchObject({
      errors: {
        name: ['The name field is required.'],
        scopes: ["The scope 'fly' is not defined.", "The scope '*' is not defined."],
      },
    })
  })

  it('POST returns JSON with accessToken', async () => {
    const body = { name: 'laptop', scopes: ['place-orders'] }
    const reply = await server.json('ada', 'POST', '/oauth/personal-access-tokens', body)
    expect(reply.status).toBe(201)
    expect(reply.headers.get('cache-control')).toBe('no-store')
    const { accessToken, token, ...rest } = await reply.json()
    expect(rest).toEqual({})
    expect(Object.keys(token)).toEqual(TOKEN_FIELDS)
    expect(token).toMatchObject({ ...body, user_id: 'ada', revoked: false })
    const me = await guardedApp(server).get('/me', bearer(accessToken))
    expect(await me.json()).toEqual({ id: 'ada', email: 'ada@example.com', orders: true })
    expect(JSON.stringify(await list('ada', '/oauth/personal-access-tokens'))).not.toContain(
      accessToken,
    )
  })

  it('DELETE /oauth/personal-access-tokens/{token-id} deletes the token', async () => {
    const { accessToken, token } = await addToken()
    const path = `/oauth/personal-access-tokens/${token.id}`
    expect((await guardedApp(server).get('/me', bearer(accessToken))).status).toBe(200)
    expect((await server.json('ada', 'DELETE', path)).status).toBe(204)
    expect((await guardedApp(server).get('/me', bearer(accessToken))).status).toBe(401)
    const left = await list<TokenJson>('ada', '/oauth/personal-access-tokens')
    expect(left.map(({ id }) => id)).not.toContain(token.id)
    const again = await expectNoChange(server, () => server.json('ada', 'DELETE', path))
    expect(again.status).toBe(404)
  })
})

describe('the routes for tokens of third-party clients:', () => {
  it("GET lists the user's tokens of third-party clients, each with its client", async () => {
    const third = await createClient(server, { name: 'Third party' })
    const own = await createClient(server, { firstParty: true })
    const passwords = await createClient(server, { grants: ['password'] })
    await runCodeFlow(server, third)
    await runCodeFlow(server, third, { user: 'bob' })
    await runCodeFlow(server, own)
    await server.post('/oauth/token', {
      grant_type: 'password',
      client_id: passwords.id,
      client_secret: passwords.secret,
      username: 'ada@example.com',
      password: 'correct horse',
    })
    await addToken()
    const tokens = await list<TokenJson>('ada', '/oauth/tokens')
    const ofThese = tokens.filter(({ client_id }) =>
      [third.id, own.id, passwords.id, 'personal-access'].includes(client_id),
    )
    expect(ofThese).toHaveLength(1)
    expect(Object.keys(ofThese[0] ?? {})).toEqual(TOKEN_FIELDS)
    expect(ofThese[0]).toMatchObject({
      user_id: 'ada',
      client: { id: third.id, name: 'Third party' },
      name: null,
      scopes: ['place-orders'],
    })
    expect(Object.keys(ofThese[0]?.client ?? {})).toEqual(CLIENT_FIELDS)
  })

  it('GET lists the newest tokens first and omits tokens that are no longer valid', async () => {
    const client = await createClient(server, { grants: ['authorization_code'] })
    await runCodeFlow(server, client)
    server.clock.advance({ seconds: 1 })
    await runCodeFlow(server, client)
    const mine = async () =>
      (await list<TokenJson>('ada', '/oauth/tokens')).filter(
        ({ client_id }) => client_id === client.id,
      )
    const tokens = await mine()
    expect(tokens).toHaveLength(2)
    const times = tokens.map(({ created_at }) => created_at)
    expect(times).toEqual([...times].sort().reverse())
    server.clock.advance({ years: 1 })
    expect(await mine()).toEqual([])
  })

  it('DELETE /oauth/tokens/{id} revokes a token with its refresh token', async () => {
    const client = await createClient(server)
    const tokens = await runCodeFlow(server, client)
    const [token] = (await list<TokenJson>('ada', '/oauth/tokens')).filter(
      ({ client_id }) => client_id === client.id,
    )
    const other = await runCodeFlow(server, client)
    const reply = await server.json('ada', 'DELETE', `/oauth/tokens/${token?.id}`)
    expect(reply.status).toBe(204)
    expect((await guardedApp(server).get('/me', bearer(tokens.access_token))).status).toBe(401)
    expect((await guardedApp(server).get('/me', bearer(other.access_token))).status).toBe(200)
    const refresh = await server.post('/oauth/token', {
      grant_type: 'refresh_token',
      refresh_token: tokens.refresh_token,
      client_id: client.id,
      client_secret: client.secret,
    })
    expect(await refresh.json()).toMatchObject({ error: 'invalid_grant' })
  })
})

interface ManagementRoute {
  readonly method: string
  /** Path with a placeholder that names the object of Ada's whose id is inserted. */
  readonly path: string
  readonly body?: unknown
}

const MANAGEMENT: readonly ManagementRoute[] = [
  { method: 'GET', path: '/oauth/clients' },
  { method: 'POST', path: '/oauth/clients', body: { name: 'x', redirect: REDIRECT } },
  { method: 'PUT', path: '/oauth/clients/{client}', body: { name: 'x', redirect: REDIRECT } },
  { method: 'DELETE', path: '/oauth/clients/{client}' },
  { method: 'POST', path: '/oauth/clients/{client}/secret' },
  { method: 'GET', path: '/oauth/scopes' },
  { method: 'GET', path: '/oauth/personal-access-tokens' },
  { method: 'POST', path: '/oauth/personal-access-tokens', body: { name: 'x', scopes: [] } },
  { method: 'DELETE', path: '/oauth/personal-access-tokens/{personal}' },
  { method: 'GET', path: '/oauth/tokens' },
  { method: 'DELETE', path: '/oauth/tokens/{token}' },
  { method: 'POST', path: '/oauth/token/refresh' },
]

const withTitle = (routes: readonly ManagementRoute[]) =>
  routes.map((route) => [`${route.method} ${route.path}`, route] as const)

describe('the management routes', () => {
  let ids: Record<string, string>
  let accessToken: string
  beforeAll(async () => {
    const client = await addClient('ada')
    const personal = await addToken('ada')
    ;({ access_token: accessToken } = await runCodeFlow(server, client))
    const [token] = (await list<TokenJson>('ada', '/oauth/tokens')).filter(
      ({ client_id }) => client_id === client.id,
    )
    ids = { client: client.id, personal: personal.token.id, token: token?.id ?? '' }
  })

  const pathOf = (template: string) => template.replace(/\{(\w+)\}/, (_, name) => ids[name] ?? '')

  function call(
    { method, path, body }: ManagementRoute,
    headers: Record<string, string>,
  ): Promise<Response> {
    return server.request(pathOf(path), {
      method,
      headers: { accept: 'application/json', 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  }

  it.each(withTitle(MANAGEMENT))(
    '%s without a session returns 401 with JSON',
    async (_title, route) => {
      const reply = await expectNoChange(server, () => call(route, {}))
      expect(reply.status).toBe(401)
      expect(reply.headers.get('content-type')).toContain('application/json')
      expect(reply.headers.get('cache-control')).toBe('no-store')
      expect(await reply.json()).toEqual({ message: 'Unauthenticated.' })
    },
  )

  it.each(withTitle(MANAGEMENT))(
    '%s refuses an access token of a third-party client',
    async (_title, route) => {
      const headers = bearer(accessToken)
      const reply = await expectNoChange(server, () => call(route, headers))
      expect(reply.status).toBe(401)
      const both = { ...headers, cookie: 'session=ada.1' }
      expect((await expectNoChange(server, () => call(route, both))).status).toBe(401)
    },
  )

  it.each(withTitle(MANAGEMENT.filter(({ method }) => method === 'GET')))(
    '%s without a session redirects a browser to the sign-in page',
    async (_title, route) => {
      const reply = await call(route, { accept: 'text/html,*/*' })
      expect(reply.status).toBe(303)
      const target = new URL(reply.headers.get('location') ?? '', server.url)
      expect(target.pathname).toBe('/login')
      expect(target.searchParams.get('return_to')).toBe(route.path)
    },
  )

  it.each(withTitle(MANAGEMENT.filter(({ method }) => method !== 'GET')))(
    '%s with a session requires the CSRF token',
    async (_title, route) => {
      for (const token of [{}, { 'x-csrf-token': 'x'.repeat(43) }]) {
        const headers: Record<string, string> = { cookie: 'session=ada.1', ...token }
        const reply = await expectNoChange(server, () => call(route, headers))
        expect(reply.status).toBe(403)
        expect(await reply.json()).toEqual({ message: expect.stringContaining('X-CSRF-TOKEN') })
      }
    },
  )

  it.each(withTitle(MANAGEMENT.filter(({ path }) => path.includes('{'))))(
    '%s for the object of another user returns 404, like an unknown object',
    async (_title, { method, path, body }) => {
      const foreign = await expectNoChange(server, () =>
        server.json('bob', method, pathOf(path), body),
      )
      expect(foreign.status).toBe(404)
      const missing = await expectNoChange(server, () =>
        server.json('bob', method, path.replace(/\{\w+\}/, 'none'), body),
      )
      expect(missing.status).toBe(404)
      expect(await missing.text()).toBe(await foreign.text())
    },
  )

  it('list tokens of third-party clients and personal access tokens separately', async () => {
    const wrong = [`/oauth/tokens/${ids.personal}`, `/oauth/personal-access-tokens/${ids.token}`]
    for (const path of wrong) {
      const reply = await expectNoChange(server, () => server.json('ada', 'DELETE', path))
      expect(reply.status).toBe(404)
    }
  })
})

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createClient } from '../support.ts'
import { createMachineHeaders, createUserHeaders } from './credentials.ts'
import { type App, frameworks } from './frameworks.ts'
import { rawRequest } from './raw-request.ts'

describe.each(frameworks)('the guard in $name', (framework) => {
  let app: App
  beforeAll(async () => {
    app = await framework.start()
  })
  beforeEach(() => {
    app.reached.length = 0
  })
  afterAll(() => app.close())

  it("auth('api') passes the user's id, the token's scopes and the application's user record to the handler", async () => {
    const headers = await createUserHeaders(app, ['check-status'])
    const me = await app.fetch('/me', { headers })
    expect(await me.json()).toEqual({
      id: 'ada',
      record: app.users.all.get('ada'),
      mayPlace: false,
      mayCheck: true,
    })
  })

  it.each([
    ['no header', {}],
    ['an empty header', { authorization: '' }],
  ])("auth('api') rejects a request with %s: 401 with a challenge", async (_what, headers) => {
    const reply = await app.fetch('/me', { headers })
    expect(reply.status).toBe(401)
    expect(reply.headers.get('www-authenticate')).toMatch(/^Bearer realm="api"/)
    expect(await reply.json()).toMatchObject({ message: 'Unauthenticated.' })
    expect(app.reached).toEqual([])
  })

  it('names no error in the challenge when no token was sent (RFC 6750 §3.1)', async () => {
    const reply = await app.fetch('/me')
    expect(reply.headers.get('www-authenticate')).toBe('Bearer realm="api"')
  })

  it.each([
    ['garbage', 'Bearer garbage'],
    ['another scheme', 'Basic YTpi'],
    ['a token without a scheme', 'garbage'],
    ['two tokens', 'Bearer one two'],
  ])('rejects an Authorization header with %s: 401 invalid_token', async (_what, authorization) => {
    const reply = await app.fetch('/orders', { headers: { authorization } })
    expect(reply.status).toBe(401)
    expect(reply.headers.get('www-authenticate')).toContain('error="invalid_token"')
    expect(await reply.json()).toMatchObject({ error: 'invalid_token' })
    expect(app.reached).toEqual([])
  })

  it('ignores a token in the query string', async () => {
    const { authorization } = await createUserHeaders(app)
    const token = authorization.slice('Bearer '.length)
    expect((await app.fetch(`/me?access_token=${token}`)).status).toBe(401)
  })

  it('rejects a token from the moment it is revoked', async () => {
    const headers = await createUserHeaders(app)
    expect((await app.fetch('/me', { headers })).status).toBe(200)
    for (const { id } of await app.oauth.tokens.listByUser('ada')) await app.oauth.tokens.revoke(id)
    expect((await app.fetch('/me', { headers })).status).toBe(401)
  })

  it.each([
    [['place-orders', 'check-status'], 200],
    [['place-orders'], 403],
    [['check-status'], 403],
    [[], 403],
  ])(
    'scopes() requires all of the scopes: a token with %j gets the status %i',
    async (held, status) => {
      const reply = await app.fetch('/orders', { headers: await createUserHeaders(app, held) })
      expect(reply.status).toBe(status)
      expect(app.reached).toEqual(status === 200 ? ['orders'] : [])
    },
  )

  it.each([
    [['place-orders', 'check-status'], 200],
    [['place-orders'], 200],
    [['check-status'], 200],
    [[], 403],
  ])(
    'scope() requires one of the scopes: a token with %j gets the status %i',
    async (held, status) => {
      const reply = await app.fetch('/status', { headers: await createUserHeaders(app, held) })
      expect(reply.status).toBe(status)
      expect(app.reached).toEqual(status === 200 ? ['status'] : [])
    },
  )

  it('names the missing scopes in the response 403 insufficient_scope', async () => {
    const reply = await app.fetch('/orders', {
      headers: await createUserHeaders(app, ['place-orders']),
    })
    expect(reply.status).toBe(403)
    const challenge = reply.headers.get('www-authenticate')
    expect(challenge).toContain('error="insufficient_scope"')
    expect(challenge).toContain('scope="place-orders check-status"')
    expect(await reply.json()).toMatchObject({ error: 'insufficient_scope' })
  })

  it("auth('client') accepts the token that a client got for itself", async () => {
    const { clientId, ...headers } = await createMachineHeaders(app, 'check-status')
    const reply = await app.fetch('/machine', { headers })
    expect(await reply.json()).toEqual({ client: clientId })
  })

  it("auth('client') checks the client's scopes", async () => {
    const { clientId: _, ...headers } = await createMachineHeaders(app, 'place-orders')
    expect((await app.fetch('/machine', { headers })).status).toBe(403)
  })

  it("auth('client') rejects the token of a user, and auth('api') rejects the token of a client", async () => {
    const user = await app.fetch('/machine', {
      headers: await createUserHeaders(app, ['check-status']),
    })
    expect(user.status).toBe(401)
    const { clientId: _, ...headers } = await createMachineHeaders(app, 'check-status')
    expect((await app.fetch('/me', { headers })).status).toBe(401)
    expect(app.reached).toEqual([])
  })

  it('serves many concurrent requests without confusing their users', async () => {
    const [ada, bob] = await Promise.all([
      createUserHeaders(app, [], 'ada'),
      createUserHeaders(app, [], 'bob'),
    ])
    const callers = Array.from({ length: 20 }, (_, index) => (index % 2 ? ada : bob))
    const replies = await Promise.all(callers.map((headers) => app.fetch('/me', { headers })))
    const ids = await Promise.all(replies.map(async (reply) => (await reply.json()).id))
    expect(ids).toEqual(callers.map((headers) => (headers === ada ? 'ada' : 'bob')))
  })
})

describe.each(frameworks.filter(({ overHttp }) => overHttp))(
  'guards over HTTP in $name',
  (framework) => {
    let app: App
    beforeAll(async () => {
      app = await framework.start()
    })
    afterAll(() => app.close())

    it.each([
      ['the same token twice', (good: string) => [good, good]],
      ['with a valid token first', (good: string) => [good, 'Bearer other']],
      ['with a valid token last', (good: string) => ['Bearer other', good]],
    ])('reject a request with two Authorization headers: %s', async (_how, pair) => {
      const { authorization } = await createUserHeaders(app, ['place-orders', 'check-status'])
      const headers = pair(authorization).map((value, index) =>
        index === 0 ? `Authorization: ${value}` : `AUTHORIZATION: ${value}`,
      )
      app.reached.length = 0
      const reply = await rawRequest(app.url, 'GET /orders', headers)
      expect(reply.status).toBe(401)
      expect(app.reached).toEqual([])
      const single = await rawRequest(app.url, 'GET /orders', headers.slice(0, 1))
      expect(single.status).toBe(headers[0] === `Authorization: ${authorization}` ? 200 : 401)
    })

    it('reject a client that authenticates with two Authorization headers', async () => {
      const { id, secret } = await createClient(app, { grants: ['client_credentials'] })
      const basic = `authorization: Basic ${btoa(`${id}:${secret}`)}`
      const form = 'content-type: application/x-www-form-urlencoded'
      const send = (...headers: string[]) =>
        rawRequest(
          app.url,
          'POST /oauth/token',
          [form, ...headers],
          'grant_type=client_credentials',
        )
      expect((await send(basic)).status).toBe(200)
      expect((await send(basic, basic)).status).toBe(401)
    })

    it('reject every request if the route uses scopes() without auth()', async () => {
      const reply = await app.fetch('/careless', {
        headers: await createUserHeaders(app, ['place-orders']),
      })
      expect(reply.status).toBe(500)
      expect(app.reached).not.toContain('careless')
    })

    it('protect every path below the prefix they are mounted at', async () => {
      expect((await app.fetch('/guarded/report')).status).toBe(401)
      const headers = await createUserHeaders(app)
      expect((await app.fetch('/guarded/report', { headers })).status).toBe(200)
    })
  },
)

it('the guard rejects two Authorization headers that a Request object has joined into one', async () => {
  const next = frameworks.find(({ overHttp }) => !overHttp)
  const app = await next?.start()
  if (!app) throw new Error('There is no framework without HTTP')
  const { authorization } = await createUserHeaders(app)
  const headers = new Headers({ authorization })
  headers.append('authorization', authorization)
  expect((await app.fetch('/me', { headers })).status).toBe(401)
  await app.close()
})

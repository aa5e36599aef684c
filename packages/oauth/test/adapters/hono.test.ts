import { Hono } from 'hono'
import { hc } from 'hono/client'
import { validator } from 'hono/validator'
import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from 'vitest'
import { forHono } from '../../src/adapters/hono.ts'
import type { AuthenticatedUser } from '../../src/guard/guard.ts'
import {
  buildSessionCookie,
  createClient,
  runCodeFlow,
  startServer,
  type TestServer,
  type TestUser,
} from '../support.ts'

// This file starts no Node server: `@hono/node-server` replaces the global `Response`.
describe('Hono, called without a network,', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer()
  })
  afterAll(() => server.close())

  it('adds the cookie of cookie mode to a Response whose headers are immutable', async () => {
    const { freshToken } = forHono(server.oauth)
    const app = new Hono()
    app.get('/moved', freshToken(), () => Response.redirect('http://localhost/page', 303))
    const reply = await app.request('/moved', { headers: { cookie: buildSessionCookie('ada') } })
    expect(reply.status).toBe(303)
    expect(reply.headers.getSetCookie()).toEqual([expect.stringMatching(/^tollgate_token=/)])
  })

  it('serves the routes if they are mounted under a path prefix', async () => {
    const app = new Hono()
    app.use('/oauth/*', forHono(server.oauth).routes)
    const { id, secret } = await createClient(server, { grants: ['client_credentials'] })
    const reply = await app.request('/oauth/token', {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: id,
        client_secret: secret,
      }),
    })
    expect(reply.status).toBe(200)
    expect((await app.request('/.well-known/jwks.json')).status).toBe(404)
  })

  describe('a guard with the handler as its last argument', () => {
    const called: string[] = []
    const app = new Hono()
    let tokens: { access_token: string }
    let clientToken: string
    beforeAll(async () => {
      const { auth } = forHono(server.oauth)
      app.get(
        '/orders/:id',
        auth('api', (c) => {
          called.push(c.req.path)
          const user = c.get('user')
          return c.json({ id: user.id, reads: user.tokenCan('view-orders'), of: c.req.param('id') })
        }),
      )
      app.get(
        '/report',
        auth('client', async (c) => c.text(c.get('oauthClient').clientId)),
      )
      app.get(
        '/broken',
        auth('api', () => {
          throw new Error('of the application')
        }),
      )
      app.onError((error, c) => c.text(error.message, 500))
      const client = await createClient(server, {
        grants: ['authorization_code', 'client_credentials'],
      })
      tokens = await runCodeFlow(server, client)
      const reply = await server.post('/oauth/token', {
        grant_type: 'client_credentials',
        client_id: client.id,
        client_secret: client.secret,
      })
      clientToken = ((await reply.json()) as { access_token: string }).access_token
    })

    const get = (path: string, token: string) =>
      app.request(path, { headers: { authorization: `Bearer ${token}` } })

    it('accepts the token of a user, on first use and from the cache', async () => {
      for (let time = 0; time < 2; time++) {
        const reply = await get('/orders/7', tokens.access_token)
        expect(reply.status).toBe(200)
        expect(await reply.json()).toMatchObject({ id: 'ada', of: '7' })
      }
    })

    it('accepts the cookie of cookie mode, which is checked asynchronously', async () => {
      const { cookie, csrfToken } = await server.cookieMode('ada')
      const headers = { cookie, 'x-csrf-token': csrfToken }
      expect((await app.request('/orders/7', { headers })).status).toBe(200)
    })

    it('rejects the request before the handler is called', async () => {
      const before = called.length
      for (const [token, error] of [
        ['x', 'invalid_token'],
        [clientToken, 'invalid_token'],
      ] as const) {
        const reply = await get('/orders/7', token)
        expect(reply.status).toBe(401)
        expect(reply.headers.get('www-authenticate')).toContain(error)
      }
      expect((await app.request('/orders/7')).status).toBe(401)
      expect(called.length).toBe(before)
    })

    it('rejects the token of a client at a route for users, and the token of a user at a route for clients', async () => {
      expect(await (await get('/report', clientToken)).text()).not.toBe('')
      expect((await get('/report', clientToken)).status).toBe(200)
      expect((await get('/report', tokens.access_token)).status).toBe(401)
    })

    it('responds synchronously to a cached token if the routes are mounted on their own paths', async () => {
      const { routes, auth } = forHono(server.oauth)
      const mounted = new Hono()
      mounted.use('/oauth/*', routes)
      mounted.use('/.well-known/*', routes)
      mounted.get(
        '/me',
        auth('api', (c) => c.text(c.get('user').id)),
      )
      const headers = { authorization: `Bearer ${tokens.access_token}` }
      await mounted.request('/me', { headers })
      const reply = mounted.fetch(new Request('http://localhost/me', { headers }))
      if (reply instanceof Promise) throw new Error('Composed of more than the handler')
      expect(await reply.text()).toBe('ada')
      for (const path of server.oauth.paths) {
        const { status } = await mounted.request(path.replace('{id}', '7'), { method: 'PATCH' })
        expect([path, status]).toEqual([path, 405])
      }
    })

    it("passes the route's path parameters, validated input and variables to the handler, with their types", async () => {
      const { auth } = forHono(server.oauth)
      const validOrder = validator('json', () => ({ amount: 2 }))
      const typed = new Hono<{
        Bindings: { KEY: string }
        Variables: { db: Map<string, number> }
      }>()
        .basePath('/v1')
        .post(
          '/orders/:id',
          validOrder,
          auth('api', (c) => {
            expectTypeOf(c.req.param('id')).toEqualTypeOf<string>()
            expectTypeOf(c.req.valid('json')).toEqualTypeOf<{ amount: number }>()
            return c.json({ id: c.req.param('id'), ...c.req.valid('json') })
          }),
        )
        .get(
          '/orders/:id',
          auth('api', async (c) => {
            expectTypeOf(c.req.param('id')).toEqualTypeOf<string>()
            expectTypeOf(c.get('db')).toEqualTypeOf<Map<string, number>>()
            expectTypeOf(c.var.db).toEqualTypeOf<Map<string, number>>()
            expectTypeOf(c.env.KEY).toEqualTypeOf<string>()
            expectTypeOf(c.get('user')).toEqualTypeOf<AuthenticatedUser<TestUser>>()
            expectTypeOf(c.var.user).toEqualTypeOf<AuthenticatedUser<TestUser>>()
            // @ts-expect-error: no middleware sets this variable
            c.get('nothing')
            return c.json({ key: c.env.KEY })
          }),
        )
      const headers = { authorization: `Bearer ${tokens.access_token}` }
      const client = hc<typeof typed>('http://localhost', {
        headers,
        fetch: (input: string | URL | Request, init?: RequestInit) =>
          typed.request(input, init, { KEY: 'of Ada' }),
      })
      const param = { id: '7' }
      const placed = await client.v1.orders[':id'].$post({ param, json: { amount: 2 } })
      expect(await placed.json()).toEqual({ id: '7', amount: 2 })
      const { key } = await (await client.v1.orders[':id'].$get({ param })).json()
      expectTypeOf(key).toEqualTypeOf<string>()
      expect(key).toBe('of Ada')
    })

    it('passes errors of the handler on to Hono', async () => {
      const reply = await get('/broken', tokens.access_token)
      expect([reply.status, await reply.text()]).toEqual([500, 'of the application'])
    })
  })
})

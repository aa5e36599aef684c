import { getRequestListener } from '@hono/node-server'
import express from 'express'
import createFastify from 'fastify'
import { Hono } from 'hono'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { forExpress } from '../../src/adapters/express.ts'
import { forFastify } from '../../src/adapters/fastify.ts'
import { forHono } from '../../src/adapters/hono.ts'
import { forNext } from '../../src/adapters/next.ts'
import { clientRegistration, cors } from '../../src/index.ts'
import { type App, type Framework, overHttp } from '../adapters/frameworks.ts'
import { createClient, runCodeFlow, startServer } from '../support.ts'

const PAGE = 'https://app.example'

const frameworks: readonly Framework[] = [
  overHttp('Express', ({ oauth }, reached) => {
    const { routes, auth, scopes, cors } = forExpress(oauth)
    const app = express()
    app.use(cors())
    app.use(routes)
    app.get('/api/orders', auth('api'), scopes('place-orders'), (_request, response) => {
      reached.push('orders')
      response.vary('accept').json('orders')
    })
    app.get('/api/status', auth('api'), scopes('check-status'), (_request, response) => {
      response.json('status')
    })
    return app
  }),
  overHttp('Fastify', async ({ oauth }, reached) => {
    const { routes, auth, scopes, cors } = forFastify(oauth)
    const app = createFastify()
    app.register(cors)
    app.register(routes)
    app.register(async (api) => {
      api.get('/api/orders', { onRequest: [auth('api'), scopes('place-orders')] }, async () => {
        reached.push('orders')
        return '"orders"'
      })
      api.get(
        '/api/status',
        { onRequest: [auth('api'), scopes('check-status')] },
        async () => '"status"',
      )
    })
    await app.ready()
    return (request, response) => app.routing(request, response)
  }),
  overHttp('Hono', ({ oauth }, reached) => {
    const { routes, auth, scopes, cors } = forHono(oauth)
    const app = new Hono()
    app.use(cors())
    app.use(routes)
    app.get('/api/orders', auth('api'), scopes('place-orders'), (c) => {
      reached.push('orders')
      return c.json('orders')
    })
    app.get('/api/status', auth('api'), scopes('check-status'), (c) => c.json('status'))
    return getRequestListener(app.fetch)
  }),
  {
    name: 'Next',
    overHttp: false,
    async start(options) {
      const server = await startServer(options)
      const reached: string[] = []
      const { handlers, auth, scopes, cors } = forNext(server.oauth)
      const orders = cors(
        auth('api', scopes('place-orders'), () => {
          reached.push('orders')
          return Response.json('orders')
        }),
      )
      const status = cors(auth('api', scopes('check-status'), () => Response.json('status')))
      const routes: Record<string, typeof orders> = { '/api/orders': orders, '/api/status': status }
      return {
        ...server,
        reached,
        async fetch(path, init) {
          const request = new Request(new URL(path, server.url), init)
          const route = routes[new URL(request.url).pathname]
          if (!route) return handlers.POST(request)
          return request.method === 'OPTIONS' ? cors()(request, {}) : route(request, {})
        },
      }
    },
  },
]

describe.each(frameworks)('CORS at guarded routes (threat G9), with $name', (framework) => {
  let app: App
  let token: string
  beforeAll(async () => {
    app = await framework.start({
      features: [
        cors({ requestHeaders: ['x-request-id'] }),
        clientRegistration({ policy: 'open' }),
      ],
    })
    token = (await runCodeFlow(app, await createClient(app))).access_token
    const registered = await app.fetch('/oauth/register', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        client_name: 'Came by itself',
        redirect_uris: ['https://self.example/callback'],
        allowed_origins: ['https://claimed.example'],
      }),
    })
    expect(registered.status).toBe(201)
  })
  afterAll(() => app.close())

  const allowed = (reply: Response) => reply.headers.get('access-control-allow-origin')
  const get = (path: string, headers: Record<string, string>) => app.fetch(path, { headers })
  const preflight = (path: string, origin: string) =>
    app.fetch(path, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'GET' },
    })

  it('answers the preflight before the guard runs', async () => {
    const reply = await preflight('/api/orders', PAGE)
    expect(reply.status).toBe(204)
    expect(allowed(reply)).toBe(PAGE)
    expect(reply.headers.get('access-control-allow-methods')).toContain('DELETE')
    expect(reply.headers.get('access-control-allow-headers')).toBe(
      'authorization, content-type, dpop, x-request-id',
    )
    expect(reply.headers.get('access-control-expose-headers')).toBe('www-authenticate, dpop-nonce')
    expect(reply.headers.has('access-control-allow-credentials')).toBe(false)
    expect(app.reached).toEqual([])
  })

  it('allows the page to read responses, successful or not', async () => {
    const authorization = `Bearer ${token}`
    const orders = await get('/api/orders', { origin: PAGE, authorization })
    expect([orders.status, allowed(orders)]).toEqual([200, PAGE])
    expect(orders.headers.get('vary')?.toLowerCase()).toContain('origin')
    const missing = await get('/api/orders', { origin: PAGE })
    expect([missing.status, allowed(missing)]).toEqual([401, PAGE])
    expect(missing.headers.get('www-authenticate')).toContain('Bearer')
    const scope = await get('/api/status', { origin: PAGE, authorization })
    expect([scope.status, allowed(scope)]).toEqual([403, PAGE])
  })

  it.each([
    'null',
    'https://app.example.evil.example',
    'https://self.example',
    'https://claimed.example',
  ])('sends no CORS headers to the origin %s', async (origin) => {
    const asked = await preflight('/api/orders', origin)
    expect([asked.status, allowed(asked)]).toEqual([204, null])
    expect(asked.headers.has('access-control-allow-methods')).toBe(false)
    const reply = await get('/api/orders', { origin, authorization: `Bearer ${token}` })
    expect([reply.status, allowed(reply)]).toEqual([200, null])
    expect(reply.headers.get('vary')?.toLowerCase()).toContain('origin')
  })

  it('allows the origins of self-registered clients only at the token endpoint', async () => {
    const init = { method: 'POST', headers: { origin: 'https://self.example' } }
    expect(allowed(await app.fetch('/oauth/token', init))).toBe('https://self.example')
    const claimed = { method: 'POST', headers: { origin: 'https://claimed.example' } }
    expect(allowed(await app.fetch('/oauth/token', claimed))).toBe(null)
  })

  it('allows no access to the management routes, even behind the middleware', async () => {
    const init = { method: 'POST', headers: { origin: PAGE } }
    expect(allowed(await app.fetch('/oauth/clients', init))).toBe(null)
    expect(allowed(await app.fetch('/oauth/token/refresh', init))).toBe(null)
  })

  it('does not affect requests without an Origin header', async () => {
    const reply = await get('/api/orders', { authorization: `Bearer ${token}` })
    expect([reply.status, allowed(reply)]).toEqual([200, null])
  })
})

it('the cors() middleware of an adapter requires the server feature cors()', async () => {
  const server = await startServer()
  expect(() => forExpress(server.oauth).cors()).toThrow(TypeError)
  expect(() => forHono(server.oauth).cors()).toThrow(TypeError)
  await expect(createFastify().register(forFastify(server.oauth).cors)).rejects.toThrow(TypeError)
  await expect(
    (async () => forNext(server.oauth).cors()(new Request(server.url), {}))(),
  ).rejects.toThrow(TypeError)
  await server.close()
})

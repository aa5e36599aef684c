import fastifyCors from '@fastify/cors'
import { getRequestListener } from '@hono/node-server'
import expressCors from 'cors'
import express from 'express'
import createFastify from 'fastify'
import { Hono } from 'hono'
import { cors as honoCors } from 'hono/cors'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { forExpress } from '../../src/adapters/express.ts'
import { forFastify } from '../../src/adapters/fastify.ts'
import { forHono } from '../../src/adapters/hono.ts'
import { createClient } from '../support.ts'
import { type App, overHttp } from './frameworks.ts'

const PAGE = 'https://app.example.com'

/**
 * Each framework's own CORS middleware in front of the routes, set up as in docs/guides/grants.md.
 */
const frameworks = [
  overHttp('Express', ({ oauth }) => {
    const app = express()
    app.use(['/oauth/token', '/api'], expressCors({ origin: [PAGE] }))
    const { routes, auth } = forExpress(oauth)
    app.use(routes)
    app.get('/api/me', auth('client'), (_request, response) => void response.json('you'))
    return app
  }),
  overHttp('Fastify', async ({ oauth }) => {
    const app = createFastify()
    await app.register(fastifyCors, { origin: [PAGE] })
    const { routes, auth } = forFastify(oauth)
    app.register(routes)
    app.get('/api/me', { onRequest: auth('client') }, async () => '"you"')
    await app.ready()
    return (request, response) => app.routing(request, response)
  }),
  overHttp('Hono', ({ oauth }) => {
    const app = new Hono()
    for (const path of ['/oauth/token', '/api/*']) app.use(path, honoCors({ origin: [PAGE] }))
    const { routes, auth } = forHono(oauth)
    app.use(routes)
    app.get('/api/me', auth('client'), (c) => c.json('you'))
    return getRequestListener(app.fetch)
  }),
]

describe.each(frameworks)('JavaScript of a page on another origin, with $name,', (framework) => {
  let server: App
  let credentials: Record<string, string>
  beforeAll(async () => {
    server = await framework.start()
    const { id, secret } = await createClient(server, { grants: ['client_credentials'] })
    credentials = { client_id: id, client_secret: secret }
  })
  afterAll(() => server.close())

  const send = (path: string, init: RequestInit, origin = PAGE) =>
    server.fetch(path, {
      ...init,
      headers: { origin, ...(init.headers as Record<string, string>) },
    })
  const askFor = (fields: Record<string, string>, origin?: string) =>
    send('/oauth/token', { method: 'POST', body: new URLSearchParams(fields) }, origin)
  const allowed = (reply: Response) => reply.headers.get('access-control-allow-origin')

  it.each(['/oauth/token', '/api/me'])(
    'gets a successful preflight response for %s',
    async (path) => {
      const headers = {
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization',
      }
      const reply = await send(path, { method: 'OPTIONS', headers })
      expect(reply.status).toBe(204)
      expect(allowed(reply)).toBe(PAGE)
      expect(reply.headers.get('access-control-allow-headers')).toBe('authorization')
    },
  )

  it('can read a token response, and the API response that it gets with the token', async () => {
    const reply = await askFor({ grant_type: 'client_credentials', ...credentials })
    expect(reply.status).toBe(200)
    expect(allowed(reply)).toBe(PAGE)
    expect(reply.headers.get('cache-control')).toBe('no-store')
    const { access_token } = await reply.json()
    const me = await send('/api/me', { headers: { authorization: `Bearer ${access_token}` } })
    expect(allowed(me)).toBe(PAGE)
    expect(await me.json()).toBe('you')
  })

  it('can read why a request was refused', async () => {
    const unknown = await askFor({ grant_type: 'client_credentials', client_id: 'nobody' })
    expect(unknown.status).toBe(401)
    expect(allowed(unknown)).toBe(PAGE)
    const stranger = await send('/api/me', { headers: { authorization: 'Bearer x' } })
    expect(stranger.status).toBe(401)
    expect(allowed(stranger)).toBe(PAGE)
  })

  it("can read nothing if the page's origin is not configured", async () => {
    const grant = { grant_type: 'client_credentials', ...credentials }
    const reply = await askFor(grant, 'https://evil.example')
    expect(allowed(reply)).not.toBe('*')
    expect(allowed(reply)).not.toBe('https://evil.example')
  })
})

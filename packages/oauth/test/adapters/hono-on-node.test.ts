import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { forHono, type HonoGuardVariables } from '../../src/adapters/hono.ts'
import { startServer, type TestServer, type TestUser } from '../support.ts'
import { rawRequest } from './raw-request.ts'

/**
 * On Node the adapter reads the Node request itself. Changes a middleware made to the `Request`
 * must still count.
 */
describe('Hono on Node', () => {
  let server: TestServer
  let http: Server
  let url: string
  let ada: string
  let bob: string

  beforeAll(async () => {
    server = await startServer()
    http = createServer(getRequestListener(buildApp().fetch))
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
    ada = await bearerOf('ada')
    bob = await bearerOf('bob')
  })
  afterAll(async () => {
    http.closeAllConnections()
    await new Promise((resolve) => http.close(resolve))
    await server.close()
  })

  async function bearerOf(userId: string): Promise<string> {
    const { accessToken } = await server.oauth.tokens.createPersonal({ userId, name: 'test' })
    return `Bearer ${accessToken}`
  }

  function buildApp() {
    const { routes, auth } = forHono(server.oauth)
    const app = new Hono<{ Variables: HonoGuardVariables<TestUser> }>()
    app.use(routes)
    app.use('/read/*', async (c, next) => {
      c.req.header('authorization')
      await next()
    })
    app.use('/changed/*', async (c, next) => {
      c.req.raw.headers.set('authorization', bob)
      await next()
    })
    app.use('/stripped/*', async (c, next) => {
      c.req.raw.headers.delete('authorization')
      await next()
    })
    app.use('/replaced/*', async (c, next) => {
      c.req.raw = new Request(c.req.raw, { headers: { authorization: bob } })
      await next()
    })
    app.get('/:how/me', auth('api'), (c) => c.json(c.get('user').id))
    app.get('/inside', (c) => app.request('/plain/me', {}, c.env))
    return app
  }

  async function ask(path: string, headers: Record<string, string> = { authorization: ada }) {
    const reply = await fetch(new URL(path, url), { headers })
    return reply.status === 200 ? reply.json() : reply.status
  }

  it('identifies the caller by the Authorization header that was sent', async () => {
    expect(await ask('/plain/me')).toBe('ada')
    expect(await ask('/read/me')).toBe('ada')
  })

  it('identifies the caller by the Authorization header that a middleware has set', async () => {
    expect(await ask('/changed/me')).toBe('bob')
    expect(await ask('/changed/me', {})).toBe('bob')
    expect(await ask('/replaced/me')).toBe('bob')
  })

  it('identifies no caller if a middleware has removed the Authorization header', async () => {
    expect(await ask('/stripped/me')).toBe(401)
  })

  it('reads the headers of the inner request if a handler calls app.request(), and not those of the outer one', async () => {
    expect(await ask('/inside')).toBe(401)
  })

  it.each(['/plain/me', '/read/me'])(
    'rejects a request with two Authorization headers at %s',
    async (path) => {
      const headers = [`authorization: ${ada}`, `authorization: ${ada}`]
      expect((await rawRequest(url, `GET ${path}`, headers)).status).toBe(401)
      expect((await rawRequest(url, `GET ${path}`, headers.slice(1))).status).toBe(200)
    },
  )
})

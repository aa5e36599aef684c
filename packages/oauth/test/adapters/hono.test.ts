import { Hono } from 'hono'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { forHono } from '../../src/adapters/hono.ts'
import { createClient, sessionOf, startServer, type TestServer } from '../support.ts'

// Without a Node server in this file: that one puts a Response of its own in place of the global.
describe('Hono without a network', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer()
  })
  afterAll(() => server.close())

  it('gets the cookie of cookie mode onto a Response whose headers are immutable', async () => {
    const { freshToken } = forHono(server.oauth)
    const app = new Hono()
    app.get('/moved', freshToken(), () => Response.redirect('http://localhost/page', 303))
    const reply = await app.request('/moved', { headers: { cookie: sessionOf('ada') } })
    expect(reply.status).toBe(303)
    expect(reply.headers.getSetCookie()).toEqual([expect.stringMatching(/^tollgate_token=/)])
  })

  it('serves the routes under a path of their own as well', async () => {
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
})

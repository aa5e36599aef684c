import { Hono } from 'hono'
import { forHono, type HonoGuardVariables } from '../../src/adapters/hono.ts'
import type { TestServer, TestUser } from '../support.ts'

export interface GuardedApp {
  /** Requests the application's own API. */
  get(path: string, headers?: Record<string, string>): Promise<Response>
  post(path: string, headers?: Record<string, string>): Promise<Response>
}

/** Creates the smallest application with an API to guard and a page for cookie mode. */
export function guardedApp(server: TestServer): GuardedApp {
  const { auth, scopes, scope, freshToken } = forHono(server.oauth)
  const app = new Hono<{ Variables: HonoGuardVariables<TestUser> }>()
  app.get('/me', auth('api'), async (c) => {
    const user = c.get('user')
    const record = await user.find()
    return c.json({ id: user.id, email: record?.email, orders: user.tokenCan('place-orders') })
  })
  app.post('/me', auth('api'), (c) => c.json({ id: c.get('user').id }))
  app.get('/all', auth('api'), scopes('place-orders', 'check-status'), (c) => c.text('all'))
  app.get('/any', auth('api'), scope('place-orders', 'check-status'), (c) => c.text('any'))
  app.get('/machine', auth('client'), (c) => c.json({ id: c.get('oauthClient').clientId }))
  app.get('/page', freshToken(), (c) => c.json({ csrfToken: c.get('csrfToken') }))
  const send = async (method: string, path: string, headers: Record<string, string> = {}) =>
    app.request(`${server.url}${path}`, { method, headers })
  return {
    get: (path, headers) => send('GET', path, headers),
    post: (path, headers) => send('POST', path, headers),
  }
}

export function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}`, accept: 'application/json' }
}

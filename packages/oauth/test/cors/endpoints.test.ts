import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  authorizationCode,
  cors,
  deviceCode,
  openid,
  pushedRequests,
  refreshToken,
} from '../../src/index.ts'
import { newClient, signIn } from '../openid/support.ts'
import { createClient, startServer, type TestServer } from '../support.ts'

const PAGE = 'https://app.example'
const LISTED = 'http://localhost:5173'
const STRANGER = 'https://stranger.example'

let server: TestServer
let client: { id: string; secret: string }
beforeAll(async () => {
  server = await startServer({
    grants: [authorizationCode(), refreshToken(), deviceCode()],
    features: [
      openid(),
      pushedRequests(),
      cors({ origins: ['https://docs.example'], responseHeaders: ['x-request-id'] }),
    ],
    resources: { 'https://orders.example/api': {} },
  })
  client = await newClient(server, {
    grants: ['authorization_code', 'refresh_token'],
    firstParty: true,
    settings: { allowed_origins: [LISTED] },
  })
})
afterAll(() => server.close())

const CORS = /^access-control-/
const corsOf = (reply: Response) =>
  Object.fromEntries([...reply.headers].filter(([name]) => CORS.test(name)))
const allowed = (reply: Response) => reply.headers.get('access-control-allow-origin')

function preflight(path: string, origin: string, method = 'POST'): Promise<Response> {
  return server.request(path, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': method,
      'access-control-request-headers': 'authorization,x-csrf-token',
    },
  })
}

const OPEN = [
  ['/oauth/token', 'POST'],
  ['/oauth/revoke', 'POST'],
  ['/oauth/userinfo', 'GET, HEAD, POST'],
  ['/oauth/par', 'POST'],
  ['/oauth/device_authorization', 'POST'],
] as const

describe.each(OPEN)('CORS at %s', (path, methods) => {
  it.each([PAGE, LISTED, 'https://docs.example'])(
    'answers the preflight from the origin %s',
    async (origin) => {
      const reply = await preflight(path, origin)
      expect(reply.status).toBe(204)
      expect(corsOf(reply)).toEqual({
        'access-control-allow-origin': origin,
        'access-control-allow-methods': methods,
        'access-control-allow-headers': 'authorization, content-type, dpop',
        'access-control-expose-headers': 'www-authenticate, dpop-nonce, x-request-id',
        'access-control-max-age': '600',
      })
      expect(reply.headers.get('vary')).toBe('Origin')
      expect(reply.headers.get('allow')).toBe(`${methods}, OPTIONS`)
    },
  )

  it.each([
    STRANGER,
    'null',
    'https://app.example.evil.example',
    'https://evil-app.example',
    'https://app.example:8443',
    'https://app.example:443',
    'https://app.example/',
    'http://app.example',
    'HTTPS://APP.EXAMPLE',
    'https://sub.app.example',
    'https://any.example',
    'https://upper.example',
    'https://*.example',
    '*',
    '',
  ])('sends no CORS headers to the origin %j', async (origin) => {
    const reply = await preflight(path, origin)
    expect(corsOf(reply)).toEqual({})
    expect(reply.headers.get('vary')).toBe('Origin')
    const real = await server.request(path, { method: 'POST', headers: { origin } })
    expect(corsOf(real)).toEqual({})
    expect(real.headers.get('vary')).toBe('Origin')
  })
})

it.each(['https://*.example', 'HTTPS://upper.example', 'null', 'https://app.example/', '*'])(
  'creating a client with the invalid CORS origin %j is rejected (threat G9)',
  (origin) =>
    expect(newClient(server, { settings: { allowed_origins: [origin] } })).rejects.toThrow(
      /must be an origin such as/,
    ),
)

describe('CORS for a page on another origin (threat G9)', () => {
  it('lets the page read tokens, API responses, and error responses', async () => {
    const { access_token, refresh_token } = await signIn(server, client)
    const headers = { origin: PAGE, authorization: `Bearer ${access_token}` }
    const me = await server.request('/oauth/userinfo', { headers })
    expect([me.status, allowed(me), me.headers.get('vary')]).toEqual([200, PAGE, 'Origin'])
    const head = await server.request('/oauth/userinfo', { headers, method: 'HEAD' })
    expect([head.status, allowed(head), await head.text()]).toEqual([200, PAGE, ''])
    const form = { client_id: client.id, client_secret: client.secret }
    const fresh = await server.post(
      '/oauth/token',
      { grant_type: 'refresh_token', refresh_token, ...form },
      { origin: PAGE },
    )
    expect([fresh.status, allowed(fresh)]).toEqual([200, PAGE])
    const wrong = await server.post('/oauth/token', form, { origin: PAGE })
    expect([wrong.status, allowed(wrong)]).toEqual([400, PAGE])
    const nobody = await server.request('/oauth/userinfo', { headers: { origin: PAGE } })
    expect([nobody.status, allowed(nobody)]).toEqual([401, PAGE])
    expect(nobody.headers.get('access-control-expose-headers')).toContain('www-authenticate')
    const method = await server.request('/oauth/token', {
      method: 'PUT',
      headers: { origin: PAGE },
    })
    expect([method.status, allowed(method)]).toEqual([405, PAGE])
  })

  it.each([
    '/.well-known/oauth-authorization-server',
    '/.well-known/openid-configuration',
    '/.well-known/oauth-protected-resource/api',
    '/.well-known/jwks.json',
  ])('lets every origin read %s', async (path) => {
    for (const origin of [STRANGER, 'null']) {
      const reply = await server.request(path, { headers: { origin } })
      expect([reply.status, allowed(reply)]).toEqual([200, '*'])
      const asked = await preflight(path, origin, 'GET')
      expect([asked.status, allowed(asked)]).toEqual([204, '*'])
      expect(asked.headers.get('access-control-allow-headers')).toBe('*')
      const head = await server.request(path, { method: 'HEAD', headers: { origin } })
      expect([head.status, allowed(head), await head.text()]).toEqual([200, '*', ''])
    }
  })

  it.each([
    ['GET', '/oauth/authorize'],
    ['POST', '/oauth/authorize'],
    ['POST', '/oauth/token/refresh'],
    ['GET', '/oauth/tokens'],
    ['GET', '/oauth/clients'],
    ['POST', '/oauth/clients'],
    ['GET', '/oauth/personal-access-tokens'],
    ['GET', '/oauth/scopes'],
    ['POST', '/oauth/introspect'],
  ])('allows no access to %s %s', async (method, path) => {
    const asked = await preflight(path, PAGE, method)
    expect([asked.status, corsOf(asked)]).toEqual([405, {}])
    const real = await server.request(path, { method, headers: { origin: PAGE } })
    expect(corsOf(real)).toEqual({})
  })

  it('never allows cookies', async () => {
    for (const [path] of OPEN) {
      const replies = [
        await preflight(path, PAGE),
        await server.request(path, { method: 'POST', headers: { origin: PAGE, cookie: 'a=b' } }),
      ]
      for (const reply of replies) {
        expect(reply.headers.has('access-control-allow-credentials')).toBe(false)
        expect(reply.headers.get('access-control-allow-headers') ?? '').not.toContain('csrf')
      }
    }
  })

  it('responds to an OPTIONS request that is no preflight with the allowed methods', async () => {
    const reply = await server.request('/oauth/token', { method: 'OPTIONS' })
    expect([reply.status, reply.headers.get('allow'), corsOf(reply)]).toEqual([
      204,
      'POST, OPTIONS',
      {},
    ])
  })
})

describe('CORS origins of clients', () => {
  it('are no longer accepted once the client is revoked', async () => {
    const gone = await createClient(server, { redirect: 'https://gone.example/callback' })
    const other = await startServer({ features: [cors()] })
    const there = await createClient(other, { redirect: 'https://gone.example/callback' })
    const ask = () =>
      other.request('/oauth/token', { method: 'POST', headers: { origin: 'https://gone.example' } })
    expect(allowed(await ask())).toBe('https://gone.example')
    await other.oauth.clients.revoke(there.id)
    expect(allowed(await ask())).toBe(null)
    await other.close()
    await server.oauth.clients.revoke(gone.id)
  })

  it('are read again from the database if a request comes from an unknown origin', async () => {
    const other = await startServer({ features: [cors()] })
    await createClient(other)
    const ask = (origin: string) =>
      other.request('/oauth/token', { method: 'POST', headers: { origin } })
    expect(allowed(await ask(PAGE))).toBe(PAGE)
    await other.close()
  })

  it('do not include redirect URIs with plain http or a custom URL scheme', async () => {
    const other = await startServer({ features: [cors()] })
    await createClient(other, {
      redirect: ['http://localhost:3000/callback', 'http://127.0.0.1/callback', 'my.app:/callback'],
    })
    for (const origin of ['http://localhost:3000', 'http://127.0.0.1', 'my.app:', 'null']) {
      const reply = await other.request('/oauth/token', { method: 'POST', headers: { origin } })
      expect(allowed(reply)).toBe(null)
    }
    await other.close()
  })

  it.each([
    { origins: ['https://app.example/'] },
    { origins: ['*'] },
    { origins: ['null'] },
    { origins: ['app.example'] },
    { requestHeaders: ['x y'] },
    { responseHeaders: ['a\r\nb'] },
  ])('are allowed only with valid options of cors(): %j is rejected at start-up', (options) => {
    expect(() => cors(options)).toThrow(TypeError)
  })
})

describe('a server without cors()', () => {
  it('sends no CORS headers and refuses preflight requests', async () => {
    const plain = await startServer()
    await createClient(plain)
    const headers = { origin: PAGE, 'access-control-request-method': 'POST' }
    const asked = await plain.request('/oauth/token', { method: 'OPTIONS', headers })
    expect([asked.status, corsOf(asked)]).toEqual([405, {}])
    const real = await plain.request('/oauth/token', { method: 'POST', headers })
    expect([corsOf(real), real.headers.has('vary')]).toEqual([{}, false])
    expect(plain.oauth.crossOrigin).toBe(null)
    await plain.close()
  })
})

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { memoryStorage } from '../src/index.ts'
import { bearer, type GuardedApp, guardedApp } from './specification/guarded-app.ts'
import { expectNoChange } from './specification/rows.ts'
import {
  createClient,
  REDIRECT,
  requestAuthorization,
  runCodeFlow,
  startServer,
  type TestServer,
} from './support.ts'

let server: TestServer
let app: GuardedApp
let client: { id: string; secret: string }
let accessToken: string
let ownClient: string
beforeAll(async () => {
  server = await startServer()
  app = guardedApp(server)
  client = await createClient(server, {
    grants: ['authorization_code', 'refresh_token', 'password', 'implicit'],
  })
  accessToken = (await runCodeFlow(server, client, { scope: 'place-orders' })).access_token
  const body = { name: 'Mine', redirect: REDIRECT }
  ownClient = (await (await server.json('ada', 'POST', '/oauth/clients', body)).json()).id
})
afterAll(() => server.close())

const token = (form: Record<string, string>, headers?: HeadersInit) =>
  server.post('/oauth/token', form, headers)
const asClient = (form: Record<string, string>) =>
  token({ client_id: client.id, client_secret: client.secret, ...form })
const ada = { username: 'ada@example.com', password: 'correct horse' }
const json = (method: string, path: string, body?: unknown) =>
  server.json('ada', method, path, body)
const raw = (path: string, init: RequestInit) =>
  server.request(path, { ...init, headers: { accept: 'application/json', ...init.headers } })

async function rawJson(body: string): Promise<Response> {
  const { csrfToken } = await server.cookieMode('ada')
  return raw('/oauth/clients', {
    method: 'POST',
    body,
    headers: {
      cookie: 'session=ada.1',
      'x-csrf-token': csrfToken,
      'content-type': 'application/json',
    },
  })
}

const description = expect.stringMatching(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/)
const oauthBody = (error: string, hint = false) => ({
  error,
  error_description: description,
  ...(hint ? { hint: description } : {}),
})
const message = { message: expect.any(String) }
const invalid = (...fields: string[]) => ({
  ...message,
  errors: Object.fromEntries(
    fields.map((field) => [field, expect.arrayContaining([expect.any(String)])]),
  ),
})

interface Case {
  readonly what: string
  readonly send: () => Promise<Response>
  readonly status: number
  readonly body: Record<string, unknown>
  readonly headers?: Record<string, string | RegExp>
}

/** The errors with JSON responses: at the token endpoint, in management, at the guard. */
const CASES: readonly Case[] = [
  {
    what: 'a parameter is missing',
    send: () => asClient({}),
    status: 400,
    body: oauthBody('invalid_request', true),
  },
  {
    what: 'a parameter is sent twice (threat A6)',
    send: () =>
      raw('/oauth/token', {
        method: 'POST',
        body: 'grant_type=password&grant_type=password',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      }),
    status: 400,
    body: oauthBody('invalid_request'),
  },
  {
    what: 'an unknown client',
    send: () => token({ grant_type: 'password', client_id: 'nobody', client_secret: 'x', ...ada }),
    status: 401,
    body: oauthBody('invalid_client'),
  },
  {
    what: 'a wrong secret',
    send: () => asClient({ grant_type: 'password', client_secret: 'x', ...ada }),
    status: 401,
    body: oauthBody('invalid_client'),
  },
  {
    what: 'a wrong secret in a Basic header, answered with a challenge',
    send: () =>
      token(
        { grant_type: 'password', ...ada },
        { authorization: `Basic ${Buffer.from(`${client.id}:x`).toString('base64')}` },
      ),
    status: 401,
    body: oauthBody('invalid_client'),
    headers: { 'www-authenticate': /^Basic realm="/ },
  },
  {
    what: 'an invalid code',
    send: () => asClient({ grant_type: 'authorization_code', code: 'x', redirect_uri: REDIRECT }),
    status: 400,
    body: oauthBody('invalid_grant', true),
  },
  {
    what: 'an invalid refresh token',
    send: () => asClient({ grant_type: 'refresh_token', refresh_token: 'x' }),
    status: 400,
    body: oauthBody('invalid_grant'),
  },
  {
    what: 'a wrong password',
    send: () => asClient({ grant_type: 'password', ...ada, password: 'x' }),
    status: 400,
    body: oauthBody('invalid_grant'),
  },
  {
    what: 'an unknown scope with special characters',
    send: () => asClient({ grant_type: 'password', ...ada, scope: 'ünknown "x"' }),
    status: 400,
    body: oauthBody('invalid_scope'),
  },
  {
    what: 'an undefined scope, answered with a hint',
    send: () => asClient({ grant_type: 'password', ...ada, scope: 'nope' }),
    status: 400,
    body: oauthBody('invalid_scope', true),
  },
  {
    what: 'a grant that the client may not use',
    send: () => asClient({ grant_type: 'client_credentials' }),
    status: 400,
    body: oauthBody('unauthorized_client'),
  },
  {
    what: 'a grant that the server does not offer',
    send: () => asClient({ grant_type: 'magic' }),
    status: 400,
    body: oauthBody('unsupported_grant_type'),
  },
  {
    what: 'creating a client with invalid fields',
    send: () => json('POST', '/oauth/clients', {}),
    status: 422,
    body: invalid('name', 'redirect'),
  },
  {
    what: 'updating a client with invalid fields',
    send: () => json('PUT', `/oauth/clients/${ownClient}`, { name: '', redirect: 'nowhere' }),
    status: 422,
    body: invalid('name', 'redirect'),
  },
  {
    what: 'creating a personal access token with invalid fields',
    send: () => json('POST', '/oauth/personal-access-tokens', { name: 7 }),
    status: 422,
    body: invalid('name', 'scopes'),
  },
  {
    what: 'a protected route without a token',
    send: () => app.get('/me'),
    status: 401,
    body: { ...oauthBody('invalid_token'), message: 'Unauthenticated.' },
    headers: { 'www-authenticate': 'Bearer realm="api"' },
  },
  {
    what: 'a protected route with a bad token',
    send: () => app.get('/me', bearer(`${accessToken}x`)),
    status: 401,
    body: { ...oauthBody('invalid_token'), message: 'Unauthenticated.' },
    headers: { 'www-authenticate': /^Bearer realm="api", error="invalid_token", error_desc/ },
  },
  {
    what: 'a protected route with an odd Authorization header',
    send: () => app.get('/me', { authorization: `Bearer  ${accessToken} x` }),
    status: 401,
    body: { ...oauthBody('invalid_token'), message: 'Unauthenticated.' },
    headers: { 'www-authenticate': /error="invalid_token"/ },
  },
  {
    what: 'a token without a required scope',
    send: () => app.get('/all', bearer(accessToken)),
    status: 403,
    body: { ...oauthBody('insufficient_scope'), message: 'Invalid scope(s) provided.' },
    headers: {
      'www-authenticate':
        /^Bearer realm="api", error="insufficient_scope", .*scope="place-orders check-status"$/,
    },
  },
  {
    what: 'a management route without a session',
    send: () => raw('/oauth/clients', {}),
    status: 401,
    body: message,
  },
  {
    what: 'a management route without a CSRF token',
    send: () =>
      raw(`/oauth/clients/${ownClient}`, {
        method: 'DELETE',
        headers: { cookie: 'session=ada.1' },
      }),
    status: 403,
    body: message,
  },
  {
    what: "another user's object, or an unknown one",
    send: () => json('DELETE', `/oauth/clients/${client.id}`),
    status: 404,
    body: message,
  },
  {
    what: 'an unknown path',
    send: () => raw('/oauth/nothing', {}),
    status: 404,
    body: { error: 'not_found', ...message },
  },
  {
    what: 'a method that is not allowed',
    send: () => raw('/oauth/token', { method: 'GET' }),
    status: 405,
    body: message,
    headers: { allow: 'POST' },
  },
  {
    what: 'threat I1 a body too large',
    send: () => rawJson(JSON.stringify({ name: 'n'.repeat(65 * 1024) })),
    status: 413,
    body: message,
    headers: { connection: 'close' },
  },
  {
    what: 'threat I3 a body that is not called JSON',
    send: async () => {
      const { csrfToken } = await server.cookieMode('ada')
      return raw('/oauth/clients', {
        method: 'POST',
        body: JSON.stringify({ name: 'x', redirect: REDIRECT }),
        headers: {
          cookie: 'session=ada.1',
          'x-csrf-token': csrfToken,
          'content-type': 'text/plain',
        },
      })
    },
    status: 415,
    body: message,
  },
  ...['{', '[]', '7', 'null', '"x"', ''].map((body) => ({
    what: `threat I3 a body that is no JSON object: ${body || 'empty'}`,
    send: () => rawJson(body),
    status: 400,
    body: oauthBody('invalid_request'),
  })),
]

describe('error responses', () => {
  it.each(CASES.map((given) => [given.status, given.what, given] as const))(
    'have the status %i for: %s',
    async (_status, _what, { send, status, body, headers = {} }) => {
      const reply = await expectNoChange(server, send)
      expect(reply.status).toBe(status)
      expect(reply.headers.get('cache-control')).toBe('no-store')
      expect(reply.headers.get('pragma')).toBe('no-cache')
      expect(reply.headers.get('content-type')).toBe('application/json; charset=utf-8')
      expect(reply.headers.get('x-content-type-options')).toBe('nosniff')
      expect(reply.headers.get('www-authenticate') === null).toBe(!('www-authenticate' in headers))
      for (const [name, value] of Object.entries(headers)) {
        expect(reply.headers.get(name)).toMatch(value)
      }
      expect(await reply.json()).toEqual(body)
      expect(server.logged).toEqual([])
    },
  )

  it.each([
    ['405', { method: 'PUT' }, 'allow', 'GET, POST, DELETE'],
    ['413', { method: 'POST', body: `x=${'y'.repeat(65 * 1024)}` }, 'connection', 'close'],
  ])(
    'are shown as a page to a browser, with the status %s and the headers of the error',
    async (status, init, name, value) => {
      const type = 'application/x-www-form-urlencoded'
      const headers = { accept: 'text/html', origin: server.url, 'content-type': type }
      const reply = await raw('/oauth/authorize', { ...init, headers })
      expect(reply.status).toBe(Number(status))
      expect(reply.headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(reply.headers.get('content-security-policy')).toContain("default-src 'none'")
      expect(reply.headers.get(name)).toBe(value)
    },
  )

  /** Errors that are redirected to the client; each with the state it sent. */
  const redirected: ReadonlyArray<readonly [string, Record<string, string>, string]> = [
    ['unsupported_response_type', { response_type: 'id_token' }, ''],
    ['invalid_scope', { scope: 'nope' }, ''],
    ['invalid_scope', { scope: 'nope', response_type: 'token' }, '#'],
    ['invalid_request', { prompt: 'sing' }, ''],
    ['consent_required', { prompt: 'none', scope: 'check-status' }, ''],
    ['consent_required', { prompt: 'none', scope: 'check-status', response_type: 'token' }, '#'],
  ]

  it.each(redirected)(
    'are redirected as %s to the client for the parameters %o',
    async (error, change, mark) => {
      const asked = {
        client_id: client.id,
        redirect_uri: REDIRECT,
        response_type: 'code',
        state: 'a&b',
      }
      const ask = () => requestAuthorization(server, 'ada', { ...asked, ...change })
      const reply = await expectNoChange(server, ask)
      expect(reply.status).toBe(303)
      expect(reply.headers.get('cache-control')).toBe('no-store')
      const { search, hash } = new URL(reply.headers.get('location') ?? '')
      const params = new URLSearchParams(mark === '#' ? hash.slice(1) : search)
      expect(Object.fromEntries(params)).toEqual({
        ...oauthBody(error),
        state: 'a&b',
        iss: server.url,
      })
    },
  )

  it('are not redirected to a redirect_uri other than the registered one', async () => {
    const reply = await expectNoChange(server, () =>
      requestAuthorization(server, 'ada', {
        client_id: client.id,
        redirect_uri: 'https://evil.example/callback',
        response_type: 'code',
      }),
    )
    expect(reply.status).toBe(400)
    expect(reply.headers.get('location')).toBeNull()
    const html = await reply.text()
    expect(html).toContain('not registered')
    expect(html).not.toContain('evil.example')
  })

  it('contain JSON instead of a page if the caller of the authorization endpoint accepts JSON', async () => {
    const reply = await raw('/oauth/authorize?client_id=nobody', {})
    expect(reply.status).toBe(400)
    expect(await reply.json()).toEqual(oauthBody('invalid_request'))
  })

  it('use the default response if a custom error page fails (threat F4)', async () => {
    const failing = await startServer({
      pages: { error: () => Promise.reject(new Error('template')) },
    })
    try {
      const reply = await requestAuthorization(failing, 'ada', { client_id: 'nobody' })
      expect(reply.status).toBe(400)
      expect(await reply.json()).toEqual(oauthBody('invalid_request'))
      expect(failing.logged).toEqual([
        ['The error page could not be rendered', new Error('template')],
      ])
    } finally {
      await failing.close()
    }
  })

  it('have the status 500 and no details if the error is internal, which is logged (threat P8)', async () => {
    const failing = await startServer()
    failing.users.findByCredentials = async () => {
      throw new Error('secret detail')
    }
    try {
      const own = await createClient(failing, { grants: ['password'] })
      const reply = await expectNoChange(failing, () =>
        failing.post('/oauth/token', {
          grant_type: 'password',
          client_id: own.id,
          client_secret: own.secret,
          ...ada,
        }),
      )
      expect(reply.status).toBe(500)
      expect(reply.headers.get('cache-control')).toBe('no-store')
      expect(await reply.json()).toEqual({
        error: 'server_error',
        error_description: 'The server could not complete the request',
      })
      expect(failing.logged).toEqual([
        ['A request failed unexpectedly', new Error('secret detail')],
      ])
    } finally {
      await failing.close()
    }
  })

  it('have the status 503 with Retry-After if the database is unreachable (threat F2)', async () => {
    const away = new Error('connection refused')
    const storage = memoryStorage()
    const down = await startServer({
      storage: {
        ...storage,
        tokens: { ...storage.tokens, create: () => Promise.reject(away) },
        isUnavailable: (error) => error === away,
      },
    })
    try {
      const own = await createClient(down, { grants: ['client_credentials'] })
      const reply = await down.post('/oauth/token', {
        grant_type: 'client_credentials',
        client_id: own.id,
        client_secret: own.secret,
      })
      expect(reply.status).toBe(503)
      expect(reply.headers.get('retry-after')).toBe('1')
      expect(reply.headers.get('cache-control')).toBe('no-store')
      expect(await reply.json()).toEqual(oauthBody('temporarily_unavailable'))
    } finally {
      await down.close()
    }
  })
})

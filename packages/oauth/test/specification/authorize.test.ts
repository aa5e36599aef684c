import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { authorizationCode, refreshToken } from '../../src/index.ts'
import {
  createClient,
  REDIRECT,
  requestAuthorization,
  SCOPES,
  startServer,
  submitApprovalDecision,
  type TestServer,
} from '../support.ts'
import { expectNoChange } from './rows.ts'

let server: TestServer
let client: { id: string; secret: string }
beforeAll(async () => {
  server = await startServer()
  client = await createClient(server, {
    name: 'Coffee <b>shop</b>',
    grants: ['authorization_code', 'refresh_token', 'implicit'],
  })
})
afterAll(() => server.close())

const requestWith = (change: Record<string, string> = {}) => ({
  client_id: client.id,
  redirect_uri: REDIRECT,
  response_type: 'code',
  scope: 'place-orders',
  prompt: 'consent',
  ...change,
})

function without(field: string): Record<string, string> {
  const { [field]: _left, ...rest } = requestWith() as Record<string, string>
  return rest
}

const locationOf = (reply: Response) => new URL(reply.headers.get('location') ?? 'none:')
const fragmentOf = (url: URL) => Object.fromEntries(new URLSearchParams(url.hash.slice(1)))

describe('GET /oauth/authorize', () => {
  it('shows an approval screen with the client and the requested scopes', async () => {
    const page = await requestAuthorization(
      server,
      'ada',
      requestWith({ scope: 'place-orders check-status' }),
    )
    expect(page.status).toBe(200)
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(page.headers.get('cache-control')).toBe('no-store')
    expect(page.headers.get('x-frame-options')).toBe('DENY')
    const html = await page.text()
    expect(html).toContain('Coffee &lt;b&gt;shop&lt;/b&gt;')
    for (const text of [...Object.values(SCOPES), 'app.example', 'Approve', 'Deny']) {
      expect(html).toContain(text)
    }
  })

  it('returns an authorization code after approval with response_type=code', async () => {
    const page = await requestAuthorization(server, 'ada', requestWith({ state: 'xyz' }))
    const answered = await submitApprovalDecision(server, 'ada', page)
    expect(answered.origin + answered.pathname).toBe(REDIRECT)
    expect(Object.fromEntries(answered.searchParams)).toEqual({
      code: expect.stringMatching(/^tgc_/),
      state: 'xyz',
      iss: server.url,
    })
    expect(answered.hash).toBe('')
  })

  it('returns the token directly after approval with response_type=token', async () => {
    const page = await requestAuthorization(
      server,
      'ada',
      requestWith({ response_type: 'token', state: 'xyz' }),
    )
    const answered = await submitApprovalDecision(server, 'ada', page)
    expect(answered.origin + answered.pathname + answered.search).toBe(REDIRECT)
    expect(fragmentOf(answered)).toEqual({
      access_token: expect.any(String),
      token_type: 'Bearer',
      expires_in: '31536000',
      scope: 'place-orders',
      state: 'xyz',
      iss: server.url,
    })
  })

  it('rejects response_type=token unless the implicit grant is enabled', async () => {
    const plain = await startServer({ grants: [authorizationCode(), refreshToken()] })
    try {
      const spa = await createClient(plain, { grants: ['implicit'] })
      const reply = await requestAuthorization(plain, 'ada', {
        client_id: spa.id,
        redirect_uri: REDIRECT,
        response_type: 'token',
      })
      const answered = locationOf(reply)
      expect(answered.searchParams.get('error')).toBe('unsupported_response_type')
      expect(answered.href).not.toContain('access_token')
    } finally {
      await plain.close()
    }
  })

  it('returns no token in a redirect to a client without the implicit grant', async () => {
    const codeOnly = await createClient(server)
    const change = { client_id: codeOnly.id, response_type: 'token', state: 's' }
    const reply = await expectNoChange(server, () =>
      requestAuthorization(server, 'ada', requestWith(change)),
    )
    expect(fragmentOf(locationOf(reply))).toMatchObject({
      error: 'unauthorized_client',
      state: 's',
    })
  })

  it.each([
    ['', ''],
    [' ', ''],
    ['place-orders', 'place-orders'],
    ['check-status place-orders', 'check-status place-orders'],
    [' place-orders  place-orders ', 'place-orders'],
  ])('reads the space-delimited scope parameter "%s" as "%s"', async (scope, granted) => {
    const page = await requestAuthorization(
      server,
      'ada',
      requestWith({ scope, response_type: 'token' }),
    )
    const answered = await submitApprovalDecision(server, 'ada', page)
    expect(fragmentOf(answered).scope).toBe(granted)
  })

  it('accepts a request without scope', async () => {
    expect((await requestAuthorization(server, 'ada', without('scope'))).status).toBe(200)
  })
})

describe('GET /oauth/authorize shows an error page, and does not redirect, for', () => {
  it.each([
    ['a missing client_id', () => without('client_id')],
    ['an unknown client_id', () => requestWith({ client_id: 'nobody' })],
    [
      'a redirect_uri on another host',
      () => requestWith({ redirect_uri: 'https://evil.example/' }),
    ],
    ['a redirect_uri with an extra slash', () => requestWith({ redirect_uri: `${REDIRECT}/` })],
    ['a redirect_uri with a query', () => requestWith({ redirect_uri: `${REDIRECT}?x=1` })],
    [
      'a redirect_uri in another letter case',
      () => requestWith({ redirect_uri: REDIRECT.toUpperCase() }),
    ],
  ])('%s (status 400, changes nothing)', async (_what, params) => {
    const reply = await expectNoChange(server, () => requestAuthorization(server, 'ada', params()))
    expect(reply.status).toBe(400)
    expect(reply.headers.get('location')).toBeNull()
    expect(reply.headers.get('content-type')).toContain('text/html')
    expect(reply.headers.get('cache-control')).toBe('no-store')
    expect(await reply.text()).toContain('This request cannot be completed')
  })

  it('a request without redirect_uri if the client has several', async () => {
    const two = await createClient(server, { redirect: [REDIRECT, 'https://app.example/other'] })
    const { redirect_uri: _left, ...rest } = requestWith({ client_id: two.id })
    expect((await requestAuthorization(server, 'ada', rest)).status).toBe(400)
    expect(
      (await requestAuthorization(server, 'ada', { ...rest, redirect_uri: REDIRECT })).status,
    ).toBe(200)
  })

  it('a deleted client', async () => {
    const gone = await createClient(server)
    await server.oauth.clients.revoke(gone.id)
    const reply = await requestAuthorization(server, 'ada', requestWith({ client_id: gone.id }))
    expect(reply.status).toBe(400)
    expect(reply.headers.get('location')).toBeNull()
  })

  it('a repeated parameter', async () => {
    const query = new URLSearchParams(requestWith())
    query.append('redirect_uri', 'https://evil.example/')
    const reply = await server.request(`/oauth/authorize?${query}`, {
      headers: { cookie: 'session=ada.1', accept: 'text/html' },
    })
    expect(reply.status).toBe(400)
    expect(reply.headers.get('location')).toBeNull()
  })
})

describe('GET /oauth/authorize redirects with an error to the client for', () => {
  it.each([
    ['a missing response_type', () => without('response_type'), 'invalid_request'],
    [
      'an unknown response_type',
      () => requestWith({ response_type: 'id' }),
      'unsupported_response_type',
    ],
    ['an unknown scope', () => requestWith({ scope: 'nope' }), 'invalid_scope'],
    ['the * scope', () => requestWith({ scope: '*' }), 'invalid_scope'],
    ['an unknown prompt', () => requestWith({ prompt: 'maybe' }), 'invalid_request'],
    [
      'code_challenge_method plain',
      () => requestWith({ code_challenge: 'x'.repeat(43), code_challenge_method: 'plain' }),
      'invalid_request',
    ],
    ['a truncated challenge', () => requestWith({ code_challenge: 'x' }), 'invalid_request'],
  ])('%s', async (_what, params, error) => {
    const asked = { ...params(), state: 'a b' }
    const reply = await expectNoChange(server, () => requestAuthorization(server, 'ada', asked))
    expect(reply.status).toBe(303)
    const answered = locationOf(reply)
    expect(answered.origin + answered.pathname).toBe(REDIRECT)
    expect(Object.fromEntries(answered.searchParams)).toEqual({
      error,
      error_description: expect.any(String),
      state: 'a b',
      iss: server.url,
    })
  })

  it('a state that is too long, which is not truncated', async () => {
    const reply = await requestAuthorization(
      server,
      'ada',
      requestWith({ state: 's'.repeat(2049) }),
    )
    const answered = locationOf(reply)
    expect(answered.searchParams.get('error')).toBe('invalid_request')
    expect(answered.searchParams.has('state')).toBe(false)
  })
})

describe('a redirect of the authorization endpoint', () => {
  const states = ['simple', 'a b&c=d', 'ü€😀', '%2B+%00', `"><script>`, 's'.repeat(2048)]

  it.each(states)('returns the state exactly as it was sent: %s', async (state) => {
    const approved = await requestAuthorization(server, 'ada', requestWith({ state }))
    expect((await submitApprovalDecision(server, 'ada', approved)).searchParams.get('state')).toBe(
      state,
    )
    const denied = await requestAuthorization(
      server,
      'ada',
      requestWith({ state, response_type: 'token' }),
    )
    expect(fragmentOf(await submitApprovalDecision(server, 'ada', denied, 'deny')).state).toBe(
      state,
    )
  })

  it('contains no state if none was sent', async () => {
    const page = await requestAuthorization(server, 'ada', requestWith())
    expect((await submitApprovalDecision(server, 'ada', page)).searchParams.has('state')).toBe(
      false,
    )
  })

  it('returns access_denied in the query for response_type=code', async () => {
    const answered = await submitApprovalDecision(
      server,
      'ada',
      await requestAuthorization(server, 'ada', requestWith()),
      'deny',
    )
    expect(Object.fromEntries(answered.searchParams)).toEqual({
      error: 'access_denied',
      error_description: expect.any(String),
      iss: server.url,
    })
    expect(answered.hash).toBe('')
  })

  it('returns access_denied in the fragment for response_type=token', async () => {
    const page = await requestAuthorization(server, 'ada', requestWith({ response_type: 'token' }))
    const answered = await submitApprovalDecision(server, 'ada', page, 'deny')
    expect(fragmentOf(answered)).toMatchObject({ error: 'access_denied' })
    expect(answered.search).toBe('')
  })

  it('keeps the query of a registered redirect URI', async () => {
    const redirect = 'https://app.example/callback?tenant=7'
    const tenant = await createClient(server, { redirect })
    const page = await requestAuthorization(
      server,
      'ada',
      requestWith({ client_id: tenant.id, redirect_uri: redirect }),
    )
    const answered = await submitApprovalDecision(server, 'ada', page)
    expect([...answered.searchParams.keys()]).toEqual(['tenant', 'code', 'iss'])
  })

  it('has the status 303 and must not be cached', async () => {
    const reply = await requestAuthorization(server, 'ada', requestWith({ scope: 'nope' }))
    expect(reply.status).toBe(303)
    expect(reply.headers.get('cache-control')).toBe('no-store')
    expect(reply.headers.get('referrer-policy')).toBe('no-referrer')
  })
})

describe('GET /oauth/authorize without a session', () => {
  const visit = (accept: string, change: Record<string, string> = {}) =>
    server.request(`/oauth/authorize?${new URLSearchParams(requestWith(change))}`, {
      headers: { accept },
    })

  it('sends browsers to the sign-in page and back to the same request', async () => {
    const reply = await visit('text/html', { state: 'x' })
    expect(reply.status).toBe(303)
    const target = new URL(reply.headers.get('location') ?? '', server.url)
    expect(target.pathname).toBe('/login')
    const back = new URL(target.searchParams.get('return_to') ?? '', server.url)
    expect(back.pathname).toBe('/oauth/authorize')
    expect(Object.fromEntries(back.searchParams)).toEqual(requestWith({ state: 'x' }))
  })

  it('responds with 401 to callers that accept JSON', async () => {
    const reply = await visit('application/json')
    expect(reply.status).toBe(401)
    expect(await reply.json()).toEqual({ message: 'Unauthenticated.' })
  })

  it('returns login_required to the client with prompt=none', async () => {
    const answered = locationOf(await visit('text/html', { prompt: 'none' }))
    expect(answered.searchParams.get('error')).toBe('login_required')
  })
})

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { authorizationCode, refreshToken } from '../../src/index.ts'
import {
  askFor,
  createClient,
  decideOn,
  REDIRECT,
  SCOPES,
  startServer,
  type TestServer,
} from '../support.ts'
import { changingNothing } from './rows.ts'

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

const asking = (change: Record<string, string> = {}) => ({
  client_id: client.id,
  redirect_uri: REDIRECT,
  response_type: 'code',
  scope: 'place-orders',
  prompt: 'consent',
  ...change,
})

function without(field: string): Record<string, string> {
  const { [field]: _left, ...rest } = asking() as Record<string, string>
  return rest
}

const locationOf = (reply: Response) => new URL(reply.headers.get('location') ?? 'none:')
const fragmentOf = (url: URL) => Object.fromEntries(new URLSearchParams(url.hash.slice(1)))

describe('GET /oauth/authorize', () => {
  it('§4.1 shows an approve/deny screen with the client and what it asks for', async () => {
    const page = await askFor(server, 'ada', asking({ scope: 'place-orders check-status' }))
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

  it('§4.1 on approval with response_type=code supplies the authorization code', async () => {
    const page = await askFor(server, 'ada', asking({ state: 'xyz' }))
    const answered = await decideOn(server, 'ada', page)
    expect(answered.origin + answered.pathname).toBe(REDIRECT)
    expect(Object.fromEntries(answered.searchParams)).toEqual({
      code: expect.stringMatching(/^tgc_/),
      state: 'xyz',
      iss: server.url,
    })
    expect(answered.hash).toBe('')
  })

  it('§4.1 on approval with response_type=token returns the token directly', async () => {
    const page = await askFor(server, 'ada', asking({ response_type: 'token', state: 'xyz' }))
    const answered = await decideOn(server, 'ada', page)
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

  it('§4.1 the implicit grant must be enabled', async () => {
    const plain = await startServer({ grants: [authorizationCode(), refreshToken()] })
    try {
      const spa = await createClient(plain, { grants: ['implicit'] })
      const reply = await askFor(plain, 'ada', {
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

  it('a client without the implicit grant cannot have a token in a redirect', async () => {
    const codeOnly = await createClient(server)
    const change = { client_id: codeOnly.id, response_type: 'token', state: 's' }
    const reply = await changingNothing(server, () => askFor(server, 'ada', asking(change)))
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
  ])('§4.1 scope "%s" is space-delimited and may be empty', async (scope, granted) => {
    const page = await askFor(server, 'ada', asking({ scope, response_type: 'token' }))
    const answered = await decideOn(server, 'ada', page)
    expect(fragmentOf(answered).scope).toBe(granted)
  })

  it('§4.1 scope may be left out', async () => {
    expect((await askFor(server, 'ada', without('scope'))).status).toBe(200)
  })
})

describe('GET /oauth/authorize with a doubtful address shows our own page', () => {
  it.each([
    ['client_id left out', () => without('client_id')],
    ['unknown client_id', () => asking({ client_id: 'nobody' })],
    ['redirect_uri of somebody else', () => asking({ redirect_uri: 'https://evil.example/' })],
    ['redirect_uri with one slash more', () => asking({ redirect_uri: `${REDIRECT}/` })],
    ['redirect_uri with a query', () => asking({ redirect_uri: `${REDIRECT}?x=1` })],
    ['redirect_uri in other letter case', () => asking({ redirect_uri: REDIRECT.toUpperCase() })],
  ])('§7 %s: 400, no redirect, nothing changed', async (_what, params) => {
    const reply = await changingNothing(server, () => askFor(server, 'ada', params()))
    expect(reply.status).toBe(400)
    expect(reply.headers.get('location')).toBeNull()
    expect(reply.headers.get('content-type')).toContain('text/html')
    expect(reply.headers.get('cache-control')).toBe('no-store')
    expect(await reply.text()).toContain('This request cannot be completed')
  })

  it('§2.1 a client with several redirects has to name one', async () => {
    const two = await createClient(server, { redirect: [REDIRECT, 'https://app.example/other'] })
    const { redirect_uri: _left, ...rest } = asking({ client_id: two.id })
    expect((await askFor(server, 'ada', rest)).status).toBe(400)
    expect((await askFor(server, 'ada', { ...rest, redirect_uri: REDIRECT })).status).toBe(200)
  })

  it('a deleted client is unknown', async () => {
    const gone = await createClient(server)
    await server.oauth.clients.revoke(gone.id)
    const reply = await askFor(server, 'ada', asking({ client_id: gone.id }))
    expect(reply.status).toBe(400)
    expect(reply.headers.get('location')).toBeNull()
  })

  it('a parameter sent twice goes nowhere', async () => {
    const query = new URLSearchParams(asking())
    query.append('redirect_uri', 'https://evil.example/')
    const reply = await server.request(`/oauth/authorize?${query}`, {
      headers: { cookie: 'session=ada.1', accept: 'text/html' },
    })
    expect(reply.status).toBe(400)
    expect(reply.headers.get('location')).toBeNull()
  })
})

describe('GET /oauth/authorize tells the client what was wrong', () => {
  it.each([
    ['response_type left out', () => without('response_type'), 'invalid_request'],
    ['unknown response_type', () => asking({ response_type: 'id' }), 'unsupported_response_type'],
    ['unknown scope', () => asking({ scope: 'nope' }), 'invalid_scope'],
    ['the * scope', () => asking({ scope: '*' }), 'invalid_scope'],
    ['unknown prompt', () => asking({ prompt: 'maybe' }), 'invalid_request'],
    [
      'a plain challenge',
      () => asking({ code_challenge: 'x'.repeat(43), code_challenge_method: 'plain' }),
      'invalid_request',
    ],
    ['a challenge cut short', () => asking({ code_challenge: 'x' }), 'invalid_request'],
  ])('%s', async (_what, params, error) => {
    const asked = { ...params(), state: 'a b' }
    const reply = await changingNothing(server, () => askFor(server, 'ada', asked))
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

  it('a state too long is refused rather than cut', async () => {
    const reply = await askFor(server, 'ada', asking({ state: 's'.repeat(2049) }))
    const answered = locationOf(reply)
    expect(answered.searchParams.get('error')).toBe('invalid_request')
    expect(answered.searchParams.has('state')).toBe(false)
  })
})

describe('redirects', () => {
  const states = ['simple', 'a b&c=d', 'ü€😀', '%2B+%00', `"><script>`, 's'.repeat(2048)]

  it.each(states)('state comes back verbatim: %s', async (state) => {
    const approved = await askFor(server, 'ada', asking({ state }))
    expect((await decideOn(server, 'ada', approved)).searchParams.get('state')).toBe(state)
    const denied = await askFor(server, 'ada', asking({ state, response_type: 'token' }))
    expect(fragmentOf(await decideOn(server, 'ada', denied, 'deny')).state).toBe(state)
  })

  it('no state is sent when none was', async () => {
    const page = await askFor(server, 'ada', asking())
    expect((await decideOn(server, 'ada', page)).searchParams.has('state')).toBe(false)
  })

  it('a denial is access_denied in the query for code', async () => {
    const answered = await decideOn(server, 'ada', await askFor(server, 'ada', asking()), 'deny')
    expect(Object.fromEntries(answered.searchParams)).toEqual({
      error: 'access_denied',
      error_description: expect.any(String),
      iss: server.url,
    })
    expect(answered.hash).toBe('')
  })

  it('a denial is access_denied in the fragment for implicit', async () => {
    const page = await askFor(server, 'ada', asking({ response_type: 'token' }))
    const answered = await decideOn(server, 'ada', page, 'deny')
    expect(fragmentOf(answered)).toMatchObject({ error: 'access_denied' })
    expect(answered.search).toBe('')
  })

  it("a registered redirect's own query is kept", async () => {
    const redirect = 'https://app.example/callback?tenant=7'
    const tenant = await createClient(server, { redirect })
    const page = await askFor(
      server,
      'ada',
      asking({ client_id: tenant.id, redirect_uri: redirect }),
    )
    const answered = await decideOn(server, 'ada', page)
    expect([...answered.searchParams.keys()]).toEqual(['tenant', 'code', 'iss'])
  })

  it('they are 303 and never cached', async () => {
    const reply = await askFor(server, 'ada', asking({ scope: 'nope' }))
    expect(reply.status).toBe(303)
    expect(reply.headers.get('cache-control')).toBe('no-store')
    expect(reply.headers.get('referrer-policy')).toBe('no-referrer')
  })
})

describe('GET /oauth/authorize without a session', () => {
  const visit = (accept: string, change: Record<string, string> = {}) =>
    server.request(`/oauth/authorize?${new URLSearchParams(asking(change))}`, {
      headers: { accept },
    })

  it('sends browsers to the sign-in page and back to the same request', async () => {
    const reply = await visit('text/html', { state: 'x' })
    expect(reply.status).toBe(303)
    const target = new URL(reply.headers.get('location') ?? '', server.url)
    expect(target.pathname).toBe('/login')
    const back = new URL(target.searchParams.get('return_to') ?? '', server.url)
    expect(back.pathname).toBe('/oauth/authorize')
    expect(Object.fromEntries(back.searchParams)).toEqual(asking({ state: 'x' }))
  })

  it('answers JSON callers with 401', async () => {
    const reply = await visit('application/json')
    expect(reply.status).toBe(401)
    expect(await reply.json()).toEqual({ message: 'Unauthenticated.' })
  })

  it('prompt=none gives the client login_required', async () => {
    const answered = locationOf(await visit('text/html', { prompt: 'none' }))
    expect(answered.searchParams.get('error')).toBe('login_required')
  })
})

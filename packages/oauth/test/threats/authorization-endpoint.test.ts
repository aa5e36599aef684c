import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  buildSessionCookie,
  createClient,
  REDIRECT,
  requestAuthorization,
  runCodeFlow,
  startServer,
  submitApprovalDecision,
  type TestServer,
} from '../support.ts'

/** All tests share a server: none changes what another relies on. */
let server: TestServer
let client: { id: string; secret: string }
beforeAll(async () => {
  server = await startServer()
  client = await createClient(server)
})
afterAll(() => server.close())

const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'

/** Sends a raw query, for spellings that URLSearchParams would normalize. */
function askRaw(query: string, headers: Record<string, string> = {}): Promise<Response> {
  return server.request(`/oauth/authorize?${query}`, {
    headers: { cookie: buildSessionCookie('ada'), accept: 'text/html', ...headers },
  })
}

async function expectOwnPage(reply: Response, status = 400): Promise<string> {
  const html = await reply.text()
  expect(reply.headers.get('location'), html).toBeNull()
  expect(reply.status).toBe(status)
  expect(reply.headers.get('content-type')).toContain('text/html')
  expect(html).toContain('<h1>')
  return html
}

function ask(params: Record<string, string>): Promise<Response> {
  const defaults = { client_id: client.id, redirect_uri: REDIRECT, response_type: 'code' }
  return requestAuthorization(server, 'ada', { ...defaults, ...params })
}

function answerOf(reply: Response): URL {
  expect([302, 303]).toContain(reply.status)
  return new URL(reply.headers.get('location') ?? '')
}

describe('an unknown or revoked client (threat A1)', () => {
  const unknown = [
    'nobody',
    '00000000-0000-4000-8000-000000000000',
    '<script>alert(1)</script>',
    "' or 1=1 --",
    '__proto__',
    'constructor',
    'x'.repeat(5000),
    'javascript:alert(1)',
  ]
  it.each(unknown)('gets an error page and no redirect: client_id=%j', async (clientId) => {
    const html = await expectOwnPage(await ask({ client_id: clientId }))
    expect(html).not.toContain('<script')
    expect(html.length).toBeLessThan(3000)
  })

  it('gets an error page immediately after it was revoked', async () => {
    const gone = await createClient(server)
    await server.oauth.clients.revoke(gone.id)
    await expectOwnPage(await ask({ client_id: gone.id }))
  })

  it('gets no response if it is revoked while the approval screen is open', async () => {
    const gone = await createClient(server)
    const page = await ask({ client_id: gone.id })
    await server.oauth.clients.revoke(gone.id)
    expect((await submitApprovalDecision(server, 'ada', page)).protocol).toBe('error:')
  })

  it('gets an error page if its id is the id of the personal access client', async () => {
    await server.oauth.tokens.createPersonal({ userId: 'ada', name: 'x' })
    await expectOwnPage(await ask({ client_id: 'personal-access' }))
  })
})

describe('the exact comparison of redirect URIs (threat A2)', () => {
  const registered = 'https://app.example/a/callback?tenant=7&x=%2F'
  let exact: { id: string }
  beforeAll(async () => {
    exact = await createClient(server, { redirect: registered })
  })

  const spellings = [
    'https://app.example/a/callback',
    'https://app.example/a/callback?',
    'https://app.example/a/callback/?tenant=7&x=%2F',
    'https://app.example//a/callback?tenant=7&x=%2F',
    'https://app.example/a//callback?tenant=7&x=%2F',
    'https://app.example/a/./callback?tenant=7&x=%2F',
    'https://app.example/a/b/../callback?tenant=7&x=%2F',
    'https://app.example/a/%2e/callback?tenant=7&x=%2F',
    'https://app.example/a/b/%2e%2e/callback?tenant=7&x=%2F',
    'https://app.example/a/b/%252e%252e/callback?tenant=7&x=%2F',
    'https://app.example/a/b/.%2e/callback?tenant=7&x=%2F',
    'https://app.example/a/callback;v=1?tenant=7&x=%2F',
    'https://app.example/a;/callback?tenant=7&x=%2F',
    'https://app.example/a/..;/a/callback?tenant=7&x=%2F',
    'https://app.example/A/callback?tenant=7&x=%2F',
    'https://APP.example/a/callback?tenant=7&x=%2F',
    'HTTPS://app.example/a/callback?tenant=7&x=%2F',
    'http://app.example/a/callback?tenant=7&x=%2F',
    'https://app.example:443/a/callback?tenant=7&x=%2F',
    'https://app.example:8443/a/callback?tenant=7&x=%2F',
    'https://app.example./a/callback?tenant=7&x=%2F',
    'https://user@app.example/a/callback?tenant=7&x=%2F',
    'https://user:pass@app.example/a/callback?tenant=7&x=%2F',
    'https://evil.example@app.example/a/callback?tenant=7&x=%2F',
    'https://app.example@evil.example/a/callback?tenant=7&x=%2F',
    'https://app.example/a/callback?tenant=7&x=%2F#',
    'https://app.example/a/callback?tenant=7&x=%2F#evil',
    'https://app.example/a/callback?tenant=7&x=%2f',
    'https://app.example/a/callback?tenant=7&x=/',
    'https://app.example/a/callback?x=%2F&tenant=7',
    'https://app.example/a/callback?tenant=7&x=%2F&y=1',
    'https://app.example/a/callback?tenant=8&x=%2F',
    'https://app.example/a/call%62ack?tenant=7&x=%2F',
    'https://app.example/a/callback%00?tenant=7&x=%2F',
    'https://app.example/a/callback%0d%0aset-cookie:x=y?tenant=7&x=%2F',
    'https://app.example/a/callback?tenant=7&x=%2F\t',
    'https://app.example/a/call\tback?tenant=7&x=%2F',
    'https://app.example/a/callback?tenant=7&x=%2F\r\nlocation: https://evil.example',
    ' https://app.example/a/callback?tenant=7&x=%2F',
    'https://app.example/a/callback?tenant=7&x=%2F ',
    '\u0001https://app.example/a/callback?tenant=7&x=%2F',
    'https:\\\\app.example/a/callback?tenant=7&x=%2F',
    'https://app.example\\a\\callback?tenant=7&x=%2F',
    'https://evil.example\\@app.example/a/callback?tenant=7&x=%2F',
    'https:/app.example/a/callback?tenant=7&x=%2F',
    'https:app.example/a/callback?tenant=7&x=%2F',
    '//app.example/a/callback?tenant=7&x=%2F',
    '/a/callback?tenant=7&x=%2F',
    'https://app.example.evil.example/a/callback?tenant=7&x=%2F',
    'https://evilapp.example/a/callback?tenant=7&x=%2F',
    'https://аpp.example/a/callback?tenant=7&x=%2F',
    'https://app。example/a/callback?tenant=7&x=%2F',
    'https://ａpp.example/a/callback?tenant=7&x=%2F',
    'https://app.example/a/callback\u202e?tenant=7&x=%2F',
    'https://app.example/a/callback\u200b?tenant=7&x=%2F',
    registered.slice(0, -1),
    `${registered},https://evil.example`,
    'https://evil.example',
    'javascript:alert(1)',
    'null',
    '[object Object]',
    'x'.repeat(30_000),
  ]
  it.each(spellings)(
    'refuses %j, which differs from the registered redirect URI',
    async (redirectUri) => {
      await expectOwnPage(await ask({ client_id: exact.id, redirect_uri: redirectUri }))
    },
  )

  it('accepts a registered redirect URI with a query, which the redirect keeps', async () => {
    const page = await ask({ client_id: exact.id, redirect_uri: registered, state: 's' })
    const answered = await submitApprovalDecision(server, 'ada', page)
    expect(answered.href.startsWith(`${registered}&code=`)).toBe(true)
    expect(answered.searchParams.get('state')).toBe('s')
  })

  it('refuses control characters, NUL and broken escapes at the end of the URI', async () => {
    for (const raw of ['%00', '%', '%zz', '%c0%af', '%ff', '%ed%a0%80', '%u0041']) {
      const uri = `${encodeURIComponent(REDIRECT)}${raw}`
      const query = `client_id=${client.id}&response_type=code&redirect_uri=${uri}`
      await expectOwnPage(await askRaw(query))
    }
  })

  it('refuses a URI that was removed from the client while the approval screen was open', async () => {
    const moved = await createClient(server)
    const pages = [await ask({ client_id: moved.id }), await ask({ client_id: moved.id })]
    const change = { name: 'Moved', redirect: 'https://new.example/callback' }
    await server.oauth.clients.update(moved.id, change)
    for (const decision of ['approve', 'deny'] as const) {
      const page = pages.pop()
      if (page)
        expect((await submitApprovalDecision(server, 'ada', page, decision)).protocol).toBe(
          'error:',
        )
    }
  })
})

describe('a loopback redirect URI (threat A3)', () => {
  const cases: ReadonlyArray<[registered: string, requested: string, accepted: boolean]> = [
    ['http://127.0.0.1/cb', 'http://127.0.0.1/cb', true],
    ['http://127.0.0.1/cb', 'http://127.0.0.1:51004/cb', true],
    ['http://127.0.0.1:8000/cb', 'http://127.0.0.1:9000/cb', true],
    ['http://127.0.0.1:8000/cb?a=1', 'http://127.0.0.1:9000/cb?a=1', true],
    ['http://[::1]/cb', 'http://[::1]:51004/cb', true],
    ['http://127.0.0.1/cb', 'http://127.0.0.1:65536/cb', false],
    ['http://127.0.0.1/cb', 'http://127.0.0.1:0/cb', false],
    ['http://127.0.0.1/cb', 'http://127.0.0.1:08080/cb', false],
    ['http://127.0.0.1/cb', 'http://127.0.0.1:/cb', false],
    ['http://127.0.0.1/cb', 'http://127.0.0.1:80x/cb', false],
    ['http://127.0.0.1/cb', 'http://127.0.0.1:8000/cb/', false],
    ['http://127.0.0.1/cb', 'http://127.0.0.1:8000/cb?x=1', false],
    ['http://127.0.0.1/cb', 'http://127.0.0.1:8000/cb#x', false],
    ['http://127.0.0.1/cb', 'http://127.0.0.1:8000/CB', false],
    ['http://127.0.0.1/cb', 'http://127.0.0.1:8000', false],
    ['http://127.0.0.1/cb', 'http://127.0.0.1:8000@evil.example/cb', false],
    ['http://127.0.0.1/cb', 'http://user@127.0.0.1:8000/cb', false],
    ['http://127.0.0.1/cb', 'https://127.0.0.1:8000/cb', false],
    ['http://127.0.0.1/cb', 'http://127.1:8000/cb', false],
    ['http://127.0.0.1/cb', 'http://127.0.1/cb', false],
    ['http://127.0.0.1/cb', 'http://0x7f.0.0.1:8000/cb', false],
    ['http://127.0.0.1/cb', 'http://0x7f000001/cb', false],
    ['http://127.0.0.1/cb', 'http://2130706433:8000/cb', false],
    ['http://127.0.0.1/cb', 'http://0177.0.0.1:8000/cb', false],
    ['http://127.0.0.1/cb', 'http://127.0.0.1.:8000/cb', false],
    ['http://127.0.0.1/cb', 'http://127.0.0.2:8000/cb', false],
    ['http://127.0.0.1/cb', 'http://0.0.0.0:8000/cb', false],
    ['http://127.0.0.1/cb', 'http://127.0.0.1.evil.com/cb', false],
    ['http://127.0.0.1/cb', 'http://127.0.0.1.nip.io:8000/cb', false],
    ['http://127.0.0.1/cb', 'http://localhost:8000/cb', false],
    ['http://127.0.0.1/cb', 'http://[::1]:8000/cb', false],
    ['http://127.0.0.1/cb', 'http://[::ffff:127.0.0.1]:8000/cb', false],
    ['http://[::1]/cb', 'http://[0:0:0:0:0:0:0:1]:8000/cb', false],
    ['http://[::1]/cb', 'http://[::1%25lo]:8000/cb', false],
    ['http://localhost/cb', 'http://localhost:8000/cb', true],
    ['http://localhost:3000/cb', 'http://localhost:3001/cb', true],
    ['http://localhost/cb', 'http://localhost.:8000/cb', false],
    ['http://localhost/cb', 'http://localhost.evil.example:8000/cb', false],
    ['http://localhost/cb', 'http://app.localhost:8000/cb', false],
    ['http://localhost/cb', 'http://127.0.0.1:8000/cb', false],
    ['https://localhost/cb', 'https://localhost:8000/cb', false],
    ['https://127.0.0.1/cb', 'https://127.0.0.1:8000/cb', false],
    ['http://127.0.0.1.evil.com/cb', 'http://127.0.0.1.evil.com:8000/cb', false],
    ['http://10.0.0.1/cb', 'http://10.0.0.1:8000/cb', false],
  ]
  it.each(cases)(
    'may have another port: registered %s, requested %s, accepted: %s',
    async (registered, requested, accepted) => {
      const native = await createClient(server, { redirect: 'http://127.0.0.1/other' })
      // Registered in the database, because plain http is refused today.
      await server.database.kysely
        .updateTable('oauth_clients')
        .set({ redirect_uris: JSON.stringify([registered]) })
        .where('id', '=', native.id)
        .execute()
      const reply = await ask({ client_id: native.id, redirect_uri: requested })
      if (!accepted) return void (await expectOwnPage(reply))
      const answered = await submitApprovalDecision(server, 'ada', reply)
      expect(
        answered.href.startsWith(`${requested}${requested.includes('?') ? '&' : '?'}code=`),
      ).toBe(true)
    },
  )
})

describe('redirect URIs that contain parameters of the response (threat A4)', () => {
  it.each(
    'code state error error_description error_uri iss scope access_token token_type expires_in refresh_token id_token c%6fde'.split(
      ' ',
    ),
  )('a redirect URI with the parameter %s cannot be registered', async (name) => {
    for (const uri of [`https://a.example/?${name}=1`, `https://a.example/cb?x=1&${name}=`]) {
      await expect(createClient(server, { redirect: uri })).rejects.toMatchObject({ status: 422 })
      const body = { name: 'x', redirect: uri }
      expect((await server.json('ada', 'POST', '/oauth/clients', body)).status).toBe(422)
    }
  })

  it('a request must name a redirect URI if the client has several', async () => {
    const two = await createClient(server, {
      redirect: ['https://a.example/1', 'https://a.example/2'],
    })
    const query = `client_id=${two.id}&response_type=code`
    await expectOwnPage(await askRaw(query))
    await expectOwnPage(await askRaw(`${query}&redirect_uri=`))
    const page = await ask({ client_id: two.id, redirect_uri: 'https://a.example/2' })
    expect((await submitApprovalDecision(server, 'ada', page)).pathname).toBe('/2')
  })
})

const SCRIPT_URIS = [
  'javascript:alert(1)',
  'JavaScript:alert(1)',
  'JAVASCRIPT://app.example/%0aalert(1)',
  ' javascript:alert(1)',
  '\tjavascript:alert(1)',
  '\u0000javascript:alert(1)',
  '\u0001javascript:alert(1)',
  'java\nscript:alert(1)',
  'java\tscript:alert(1)',
  'javascript\n:alert(1)',
  '\ufeffjavascript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  'Data:text/html;base64,PHNjcmlwdD4=',
  'vbscript:msgbox(1)',
  'VBScript:msgbox(1)',
  'file:///etc/passwd',
  'FILE://host/share',
  'blob:https://app.example/1',
  'filesystem:https://app.example/temporary/x',
  'about:blank',
  'view-source:https://app.example',
  'jar:https://app.example!/',
  'intent://scan/#Intent;end',
  'https://app.example/<script>',
  'https://app.example/"onload=',
  'https://a;script-src/cb',
  "https://a'b/cb",
]

describe('a redirect URI with a dangerous scheme (threat A5)', () => {
  it.each(SCRIPT_URIS)('is refused when a client is created or changed: %j', async (uri) => {
    await expect(createClient(server, { redirect: [uri] })).rejects.toMatchObject({ status: 422 })
    const created = await server.json('ada', 'POST', '/oauth/clients', {
      name: 'x',
      redirect: uri,
    })
    expect(created.status).toBe(422)
    const own = await server.json('ada', 'POST', '/oauth/clients', {
      name: 'x',
      redirect: REDIRECT,
    })
    const { id } = (await own.json()) as { id: string }
    const path = `/oauth/clients/${id}`
    const changed = await server.json('ada', 'PUT', path, { name: 'x', redirect: uri })
    expect(changed.status).toBe(422)
    expect((await server.oauth.clients.find(id))?.redirectUris).toEqual([REDIRECT])
  })

  it('is not used even if it is stored in the database', async () => {
    const stored = await createClient(server)
    for (const uri of SCRIPT_URIS.filter((text) => !text.includes('\0'))) {
      await server.oauth.clients.update(stored.id, { name: 'x', redirect: REDIRECT })
      await server.database.kysely
        .updateTable('oauth_clients')
        .set({ redirect_uris: JSON.stringify([uri]) })
        .where('id', '=', stored.id)
        .execute()
      await expectOwnPage(await ask({ client_id: stored.id, redirect_uri: uri }))
      await expectOwnPage(await askRaw(`client_id=${stored.id}&response_type=code`))
    }
  })
})

describe('a repeated parameter (threat A6)', () => {
  const base = () =>
    `client_id=${client.id}&redirect_uri=${encodeURIComponent(REDIRECT)}&response_type=code&state=s`
  it.each([
    'client_id',
    'redirect_uri',
    'response_type',
    'state',
    'scope=&scope',
    'code_challenge=&code_challenge',
    'unknown=1&unknown',
    '%73tate',
    '__proto__=1&__proto__',
  ])('causes an error without a redirect: %s', async (name) => {
    const [param = ''] = new URLSearchParams(base()).getAll(name)
    for (const value of [param, 'https://evil.example/']) {
      await expectOwnPage(await askRaw(`${base()}&${name}=${encodeURIComponent(value)}`))
    }
  })

  it.each(['client_id', 'redirect_uri', 'state', 'unknown=1&unknown'])(
    'causes an error without a redirect if it appears both in the query and in the body: %s',
    async (name) => {
      const reply = await server.request(`/oauth/authorize?${base()}&unknown=1`, {
        method: 'POST',
        body: new URLSearchParams({ [name.split('=')[0] ?? '']: 'https://evil.example/' }),
      })
      const sentTo = new URL(reply.headers.get('location') ?? '', server.url)
      expect(sentTo.origin).toBe(server.url)
      await expectOwnPage(await askRaw(sentTo.search.slice(1)))
    },
  )

  it('causes an error in the approval form, whether in its query or in its body', async () => {
    const page = await (await ask({})).text()
    const action = /action="([^"]+)"/.exec(page)?.[1] ?? ''
    const csrf = /name="csrf_token" value="([^"]+)"/.exec(page)?.[1] ?? ''
    const send = (path: string, body: string) =>
      server.request(path, {
        method: 'POST',
        body,
        headers: {
          cookie: buildSessionCookie('ada'),
          origin: server.url,
          'content-type': 'application/x-www-form-urlencoded',
        },
      })
    const other = action.replace(/interaction=.*/, 'interaction=other')
    const replies = [
      await send(action, `csrf_token=${csrf}&decision=deny&decision=approve`),
      await send(action, `csrf_token=${csrf}&csrf_token=${csrf}&decision=approve`),
      await send(`${action}&interaction=x`, `csrf_token=${csrf}&decision=approve`),
      await send(`${other}&interaction=x`, `csrf_token=${csrf}&decision=approve`),
    ]
    for (const reply of replies) await expectOwnPage(reply)
    expect((await send(action, `csrf_token=${csrf}&decision=approve`)).status).toBe(303)
  })
})

describe('the authorization endpoint (threat A7)', () => {
  it.each(['', 'Code', 'CODE', 'code ', 'id_token', 'code token', 'none', 'toString', '__proto__'])(
    'returns an error with the state for the unsupported response_type=%j',
    async (type) => {
      const answered = answerOf(await ask({ response_type: type, state: 'keep me' }))
      expect(answered.origin + answered.pathname).toBe(REDIRECT)
      const error = type === '' ? 'invalid_request' : 'unsupported_response_type'
      expect(answered.searchParams.get('error')).toBe(error)
      expect(answered.searchParams.get('state')).toBe('keep me')
      expect(answered.href).not.toMatch(/access_token|[?&#]code=/)
    },
  )

  it('returns an error and no token for a response type that the client may not use', async () => {
    const answered = answerOf(await ask({ response_type: 'token', state: 's' }))
    const params = new URLSearchParams(answered.hash.slice(1))
    expect(params.get('error')).toBe('unauthorized_client')
    expect(params.get('state')).toBe('s')
    expect(params.has('access_token')).toBe(false)
    const machine = await createClient(server, { grants: ['client_credentials'] })
    const refused = answerOf(await ask({ client_id: machine.id }))
    expect(refused.searchParams.get('error')).toBe('unauthorized_client')
  })

  it('returns no refresh token and no code for response_type=token', async () => {
    const browser = await createClient(server, { grants: ['implicit', 'refresh_token'] })
    const page = await ask({ client_id: browser.id, response_type: 'token' })
    const answered = await submitApprovalDecision(server, 'ada', page)
    expect(answered.search).toBe('')
    const params = Object.fromEntries(new URLSearchParams(answered.hash.slice(1)))
    expect(Object.keys(params).sort()).toEqual(
      ['access_token', 'expires_in', 'iss', 'scope', 'token_type'].sort(),
    )
  })
})

describe('the scope of an authorization request (threat A8)', () => {
  it.each([
    '*',
    'place-orders *',
    'unknown',
    'place-orders unknown',
    'Place-Orders',
    'place-orders\tcheck-status',
    'place-orders\ncheck-status',
    'place-orders,check-status',
    'place-orders"',
    'place-orders\\',
    'plаce-orders',
    '__proto__',
    'constructor',
    'toString',
    'place-orders\u00a0check-status',
  ])('is refused with invalid_scope: %j', async (scope) => {
    for (const response of ['code', 'token']) {
      const any = await createClient(server, { grants: ['authorization_code', 'implicit'] })
      const answered = answerOf(await ask({ client_id: any.id, scope, response_type: response }))
      const params = response === 'code' ? answered.searchParams : hashParams(answered)
      expect(params.get('error')).toBe('invalid_scope')
    }
  })

  it('is cleaned of duplicates and extra spaces', async () => {
    const tidy = await createClient(server)
    const scope = '  place-orders   check-status place-orders '
    const tokens = await runCodeFlow(server, tidy, { scope })
    expect(tokens.scope).toBe('place-orders check-status')
  })

  it('is limited to the scopes of the client', async () => {
    const limited = await createClient(server, { scopes: ['check-status'] })
    const answered = answerOf(await ask({ client_id: limited.id, scope: 'place-orders' }))
    expect(answered.searchParams.get('error')).toBe('invalid_scope')
  })
})

function hashParams(url: URL): URLSearchParams {
  return new URLSearchParams(url.hash.slice(1))
}

describe('the state of an authorization request (threat A9)', () => {
  const states = [
    'plain',
    'a b+c%20d',
    '&code=evil&error=x',
    '#fragment?query=1',
    '"><script>alert(1)</script>',
    'line\r\nlocation: https://evil.example',
    'tab\there',
    '日本語 עברית 👩‍👩‍👧 e\u0301',
    '\u202eevil',
    '%00%0d%0a',
    '__proto__',
    's'.repeat(2048),
    'é'.repeat(2048),
  ]
  it.each(states)('is returned exactly on success, denial and error: %j', async (state) => {
    const own = await createClient(server)
    const ways = [
      await submitApprovalDecision(server, 'ada', await ask({ client_id: own.id, state }), 'deny'),
      await submitApprovalDecision(server, 'ada', await ask({ client_id: own.id, state })),
      answerOf(await ask({ client_id: own.id, state, scope: 'unknown' })),
      // Approved before, so that this request is answered without a page.
      answerOf(await ask({ client_id: own.id, state })),
    ]
    for (const answered of ways) {
      expect(answered.searchParams.getAll('state')).toEqual([state])
      expect(answered.origin + answered.pathname).toBe(REDIRECT)
      expect(answered.searchParams.getAll('code').length).toBeLessThan(2)
      expect(answered.searchParams.get('code')).not.toBe('evil')
    }
  })

  it('is refused and not truncated if it is too long, and nothing is returned if none was sent', async () => {
    const answered = answerOf(await ask({ state: 's'.repeat(2049) }))
    expect(answered.searchParams.get('error')).toBe('invalid_request')
    expect(answered.searchParams.has('state')).toBe(false)
    const own = await createClient(server)
    const without = await submitApprovalDecision(server, 'ada', await ask({ client_id: own.id }))
    expect(without.searchParams.has('state')).toBe(false)
    expect(without.searchParams.get('iss')).toBe(server.url)
  })
})

describe('pages and redirects of the authorization endpoint (threat A10)', () => {
  it('forbid framing, referrers, caching, scripts and content from other origins', async () => {
    const own = await createClient(server)
    for (const reply of [await ask({ client_id: own.id }), await ask({ client_id: 'nobody' })]) {
      const policy = reply.headers.get('content-security-policy') ?? ''
      expect(policy).toContain("default-src 'none'")
      expect(policy).toContain("frame-ancestors 'none'")
      expect(policy).toContain("base-uri 'none'")
      expect(policy).not.toMatch(/unsafe|script-src|\*/)
      expect(reply.headers.get('x-frame-options')).toBe('DENY')
      expect(reply.headers.get('cache-control')).toContain('no-store')
      expect(reply.headers.get('x-content-type-options')).toBe('nosniff')
      expect(['no-referrer', 'same-origin']).toContain(reply.headers.get('referrer-policy'))
      expect(reply.headers.get('access-control-allow-origin')).toBeNull()
      expect(await reply.text()).not.toMatch(/<script|\son\w+=|style=|javascript:/i)
    }
  })

  it('change nothing for a HEAD request: neither a pending approval nor a code is stored', async () => {
    const own = await createClient(server, { firstParty: true })
    const stored = async () => {
      const counts = ['oauth_interactions', 'oauth_authorization_codes', 'oauth_tickets'].map(
        (table) =>
          server.database.kysely
            .selectFrom(table)
            .select(({ fn }) => fn.countAll().as('rows'))
            .executeTakeFirst(),
      )
      return (await Promise.all(counts)).map((row) => Number(row?.rows))
    }
    const before = await stored()
    for (const client_id of [client.id, own.id]) {
      const query = new URLSearchParams({
        client_id,
        redirect_uri: REDIRECT,
        response_type: 'code',
      })
      const reply = await server.request(`/oauth/authorize?${query}`, {
        method: 'HEAD',
        headers: { cookie: buildSessionCookie('ada'), accept: 'text/html' },
      })
      expect([reply.status, reply.headers.get('location')]).toEqual([405, null])
    }
    expect(await stored()).toEqual(before)
  })

  it('respond to a form with 303, so that no browser sends the form to the client again', async () => {
    const own = await createClient(server)
    const page = await (await ask({ client_id: own.id })).text()
    const reply = await server.post(
      /action="([^"]+)"/.exec(page)?.[1] ?? '',
      { csrf_token: /value="([^"]+)"/.exec(page)?.[1] ?? '', decision: 'approve' },
      { cookie: buildSessionCookie('ada'), origin: server.url },
    )
    expect(reply.status).toBe(303)
    expect(reply.headers.get('referrer-policy')).toBe('no-referrer')
    expect(reply.headers.get('cache-control')).toContain('no-store')
    expect(await reply.text()).toBe('')
  })

  it('send no CORS headers, whatever the origin of the request', async () => {
    for (const origin of ['https://evil.example', 'null', server.url, REDIRECT]) {
      for (const method of ['GET', 'OPTIONS']) {
        const reply = await server.request('/oauth/authorize', { method, headers: { origin } })
        expect(reply.headers.get('access-control-allow-origin')).toBeNull()
        expect(reply.headers.get('access-control-allow-credentials')).toBeNull()
      }
    }
  })
})

describe('client names and error texts (threat A11)', () => {
  const names = [
    '<img src=x onerror=alert(1)>',
    '"><svg/onload=alert(1)>',
    "'-alert(1)-'",
    '&lt;b&gt;',
  ]
  it.each(names)('are escaped on pages: %j', async (name) => {
    const own = await createClient(server, { name })
    const html = await (await ask({ client_id: own.id })).text()
    expect(html).not.toContain(name)
    expect(html).not.toMatch(/<img|<svg|<b>/)
  })

  it.each([
    '\u202egnp.exe',
    'a\u2066b',
    'a\u200fb',
    'a\u061cb',
    'a\u2028b',
    'a\u0000b',
    'a\nb',
    'a\u0085b',
    'a\ufeffb',
    '\ud800',
    ' ',
    '',
    'x'.repeat(192),
  ])('are refused if they contain control characters or have a wrong length: %j', async (name) => {
    const body = { name, redirect: REDIRECT }
    expect((await server.json('ada', 'POST', '/oauth/clients', body)).status).toBe(422)
    const token = { name, scopes: [] }
    const path = '/oauth/personal-access-tokens'
    expect((await server.json('ada', 'POST', path, token)).status).toBe(422)
  })

  it('are escaped, short, and without text direction characters in error responses', async () => {
    for (const text of ['<script>alert(1)</script>', '\u202eevil', 'x'.repeat(20_000), '"\'&']) {
      const name = encodeURIComponent(text)
      const html = await expectOwnPage(await askRaw(`${name}=1&${name}=2`))
      expect(html).not.toMatch(/<script|\u202e/)
      expect(html.length).toBeLessThan(3000)
      const answered = answerOf(await ask({ scope: text }))
      expect(answered.searchParams.get('error_description')).toMatch(
        /^[\x20-\x5b\x5d-\x7e]{1,300}$/,
      )
      const json = await askRaw(`${name}=1&${name}=2`, { accept: 'application/json' })
      expect((await json.text()).length).toBeLessThan(1000)
    }
  })
})

describe('approval without a screen (threat A12)', () => {
  it('is not possible for a public client', async () => {
    for (const redirect of [REDIRECT, 'http://127.0.0.1/cb', 'com.example.app:/cb']) {
      const app = await createClient(server, { confidential: false, redirect })
      const params = {
        client_id: app.id,
        redirect_uri: redirect,
        code_challenge: CHALLENGE,
        code_challenge_method: 'S256',
      }
      await submitApprovalDecision(server, 'ada', await ask(params))
      expect((await ask(params)).status).toBe(200)
      const silent = answerOf(await ask({ ...params, prompt: 'none' }))
      expect(silent.searchParams.get('error')).toBe('consent_required')
      expect(silent.searchParams.has('code')).toBe(false)
    }
  })

  it('is possible for a public first-party client only at an https redirect URI', async () => {
    for (const [redirect, status] of [
      [REDIRECT, 303],
      ['http://127.0.0.1/cb', 200],
      ['http://localhost/cb', 200],
      ['com.example.app:/cb', 200],
    ] as const) {
      const app = await createClient(server, { confidential: false, redirect, firstParty: true })
      const challenge = { code_challenge: CHALLENGE, code_challenge_method: 'S256' }
      const reply = await ask({ client_id: app.id, redirect_uri: redirect, ...challenge })
      expect([redirect, reply.status]).toEqual([redirect, status])
    }
  })

  it('is not possible for new scopes, after the approval was revoked, or for another person', async () => {
    const own = await createClient(server)
    await runCodeFlow(server, own, { scope: 'place-orders' })
    const again = (scope: string, prompt = '') => ask({ client_id: own.id, scope, prompt })
    expect((await again('place-orders')).status).toBe(303)
    expect((await again('place-orders check-status')).status).toBe(200)
    const none = answerOf(await again('place-orders check-status', 'none'))
    expect(none.searchParams.get('error')).toBe('consent_required')
    const bob = await requestAuthorization(server, 'bob', {
      client_id: own.id,
      response_type: 'code',
      scope: 'place-orders',
    })
    expect(bob.status).toBe(200)
    await server.oauth.consents.revoke('ada', own.id)
    expect((await again('place-orders')).status).toBe(200)
    expect(answerOf(await again('place-orders', 'none')).searchParams.has('code')).toBe(false)
  })

  it('is not possible without a session: prompt=none returns an error and no code', async () => {
    const query = `client_id=${client.id}&response_type=code&prompt=none`
    const reply = await server.request(`/oauth/authorize?${query}`)
    expect(answerOf(reply).searchParams.get('error')).toBe('login_required')
  })
})

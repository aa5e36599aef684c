import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  buildSessionCookie,
  createClient,
  type ListeningServer,
  listen,
  REDIRECT,
  requestAuthorization,
  startServer,
  type TestServer,
} from '../support.ts'

let server: TestServer
let client: { id: string; secret: string }
beforeAll(async () => {
  server = await startServer()
  client = await createClient(server)
})
afterAll(() => server.close())

const FORM = 'application/x-www-form-urlencoded'
const FORM_PATHS = ['/oauth/token', '/oauth/revoke', '/oauth/introspect']

function send(path: string, body: BodyInit, type = FORM, more: Record<string, string> = {}) {
  return server.request(path, {
    method: 'POST',
    body,
    headers: { 'content-type': type, ...more },
  })
}

async function sendJson(path: string, body: BodyInit, type = 'application/json') {
  const { csrfToken } = await server.cookieMode('ada')
  return send(path, body, type, { cookie: buildSessionCookie('ada'), 'x-csrf-token': csrfToken })
}

function expectRefusal(reply: Response, ...allowed: number[]): void {
  const expected = allowed.length ? allowed : [400, 401, 403, 404, 405, 413, 415, 422]
  expect(expected).toContain(reply.status)
}

describe('limits on the size of requests (threat I1):', () => {
  it('a body above the limit gets 413, with or without Content-Length', async () => {
    for (const path of FORM_PATHS) {
      expectRefusal(await send(path, `x=${'a'.repeat(70_000)}`), 413)
      expectRefusal(await send(path, 'x=1', FORM, { 'content-length': '99999999' }), 413)
    }
    const json = JSON.stringify({ name: 'a'.repeat(70_000), redirect: REDIRECT })
    expectRefusal(await sendJson('/oauth/clients', json), 413)
    let pulled = 0
    const endless = new ReadableStream({
      pull(controller) {
        pulled += 1
        controller.enqueue(new Uint8Array(16_384).fill(97))
      },
    })
    const init = {
      method: 'POST',
      body: endless,
      duplex: 'half',
      headers: { 'content-type': FORM },
    }
    const reply = await server.oauth.fetch(
      new Request(`${server.url}/oauth/token`, init as RequestInit),
    )
    expectRefusal(reply, 413)
    expect(pulled).toBeLessThan(20)
  })

  it('a request with too many parameters gets 400', async () => {
    const many = Array.from({ length: 5000 }, (_, i) => `p${i}=1`).join('&')
    for (const path of FORM_PATHS) expectRefusal(await send(path, many), 400)
    expectRefusal(await send('/oauth/token', '&'.repeat(60_000)), 400, 401)
    const asked = await server.request(`/oauth/authorize?${many}`)
    expectRefusal(asked, 400)
  })

  it('deeply nested JSON and very long lists are refused with a short response', async () => {
    const deep = `${'{"a":'.repeat(12_000)}1${'}'.repeat(12_000 - 1)}`.slice(0, 65_000)
    const bodies = [
      deep,
      `${'['.repeat(30_000)}${']'.repeat(30_000)}`,
      JSON.stringify({ name: 'x', redirect: ','.repeat(60_000) }),
      JSON.stringify({
        name: 'x',
        redirect: Array.from({ length: 9000 }, (_, i) => `${i}`).join(),
      }),
      JSON.stringify({ name: 'x', scopes: Array.from({ length: 9000 }, (_, i) => `s${i}`) }),
      JSON.stringify({ name: 'x', scopes: Array.from({ length: 9000 }, (_, i) => i) }),
      JSON.stringify({ name: '"'.repeat(30_000), redirect: REDIRECT }),
    ]
    for (const body of bodies) {
      for (const path of ['/oauth/clients', '/oauth/personal-access-tokens']) {
        const reply = await sendJson(path, body)
        expectRefusal(reply, 400, 413, 422)
        expect((await reply.text()).length).toBeLessThan(20_000)
      }
    }
  })

  it('a compressed body is not decompressed', async () => {
    const { gzipSync } = await import('node:zlib')
    const bomb = gzipSync(Buffer.alloc(20_000_000, 'a=1&'))
    const reply = await send('/oauth/token', bomb.subarray(0, 60_000), FORM, {
      'content-encoding': 'gzip',
    })
    expectRefusal(reply, 400, 401, 413, 415)
  })

  it('very large headers and cookies cause no internal error', async () => {
    const huge = 'a'.repeat(200_000)
    for (const headers of [
      { authorization: `Basic ${huge}` },
      { cookie: `tollgate_token=${huge}` },
      { cookie: `${'a=b;'.repeat(50_000)}` },
      { 'x-csrf-token': huge, cookie: buildSessionCookie('ada') },
      { accept: huge },
      { 'content-type': `${FORM};${huge}` },
      { origin: huge },
    ]) {
      for (const path of ['/oauth/token', '/oauth/clients', '/oauth/authorize?interaction=x']) {
        const reply = await server.request(path, { method: 'POST', headers, body: 'a=b' })
        expectRefusal(reply)
      }
    }
  })
})

describe('names such as __proto__ in requests (threat I2)', () => {
  const names = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf']
  it.each(names)('have no effect in parameters, values, paths and headers: %s', async (name) => {
    for (const path of FORM_PATHS) {
      for (const body of [`${name}=1`, `${name}[a]=1`, `a[${name}]=1`, `grant_type=${name}`]) {
        expectRefusal(
          await send(path, `${body}&client_id=${client.id}&client_secret=${client.secret}`),
        )
      }
      expectRefusal(await send(path, `client_id=${name}&client_secret=${name}`), 401)
    }
    expectRefusal(await server.request(`/oauth/authorize?${name}=1&client_id=${name}`), 400)
    for (const path of ['clients', 'tokens', 'personal-access-tokens']) {
      expectRefusal(await server.json('ada', 'DELETE', `/oauth/${path}/${name}`), 404)
    }
    const json = `{"${name}":{"polluted":1},"name":"x","redirect":"${REDIRECT}"}`
    expect((await sendJson('/oauth/clients', json)).status).toBe(201)
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
    const headers = new Headers({ [name]: 'x', cookie: `${name}=1` })
    expectRefusal(await server.request('/oauth/token', { method: 'POST', headers }))
  })
})

describe('the content type of a request (threat I3):', () => {
  it.each([
    'text/plain',
    'application/json',
    'multipart/form-data; boundary=x',
    'application/x-www-form-urlencoded-x',
    'x-application/x-www-form-urlencoded',
    'application/x-www-form-urlencoded,application/json',
    'application/xml',
    '*/*',
    '; application/x-www-form-urlencoded',
    '',
  ])('a form with the content type %j is refused', async (type) => {
    const body = `grant_type=refresh_token&refresh_token=x&client_id=${client.id}&client_secret=${client.secret}`
    for (const path of FORM_PATHS) expectRefusal(await send(path, body, type), 400, 415)
  })

  it.each([
    'application/x-www-form-urlencoded',
    'Application/X-WWW-Form-Urlencoded',
    'application/x-www-form-urlencoded;charset=UTF-8',
    'application/x-www-form-urlencoded ; charset=utf-8',
  ])('a form with the content type %j is accepted like any other form', async (type) => {
    const body = `grant_type=refresh_token&refresh_token=x&client_id=${client.id}&client_secret=${client.secret}`
    expect(await (await send('/oauth/token', body, type)).json()).toMatchObject({
      error: 'invalid_grant',
    })
    expectRefusal(await send('/oauth/token', `${body}&client_id=${client.id}`, type), 400)
    expectRefusal(await send('/oauth/token', `${body}&x=%00`, type), 400)
  })

  it.each(['text/plain', FORM, 'application/jsonp', 'text/json', 'multipart/form-data', ''])(
    'JSON with the content type %j is refused',
    async (type) => {
      const body = JSON.stringify({ name: 'x', redirect: REDIRECT })
      expectRefusal(await sendJson('/oauth/clients', body, type), 415)
    },
  )

  const values = [[], ['x'], {}, { x: 1 }, 0, 1, true, null]
  it.each(values)('the value %j is refused in JSON fields that must be strings', async (value) => {
    for (const fields of [
      { name: value, redirect: REDIRECT },
      { name: 'x', redirect: value },
    ]) {
      expectRefusal(await server.json('ada', 'POST', '/oauth/clients', fields), 422)
    }
    const token = { name: value, scopes: [] }
    expectRefusal(await server.json('ada', 'POST', '/oauth/personal-access-tokens', token), 422)
    for (const field of ['confidential', 'implicit']) {
      if (typeof value === 'boolean') continue
      const fields = { name: 'x', redirect: REDIRECT, [field]: value }
      expectRefusal(await server.json('ada', 'POST', '/oauth/clients', fields), 422)
    }
  })

  it.each([
    '',
    'null',
    '[]',
    '"x"',
    '1',
    'true',
    '{',
    '{"name":}',
    "{'name':'x'}",
    '{}x',
    '\ufeff{}',
  ])('the JSON body %j is refused', async (body) => {
    expectRefusal(await sendJson('/oauth/clients', body), 400, 422)
  })
})

describe('malformed text (threat I4):', () => {
  const raw = [
    ['an overlong slash', '%c0%af'],
    ['a lone byte', '%ff'],
    ['a truncated sequence', '%e2%82'],
    ['a lone surrogate', '%ed%a0%80'],
    ['a NUL', '%00'],
    ['a broken escape', '%'],
    ['half an escape', '%4'],
    ['no hex', '%zz'],
    ['an old unicode escape', '%u0041'],
    ['the replacement character', '%ef%bf%bd'],
  ] as const
  it.each(raw)('%s gets 400 in every parameter', async (_, bytes) => {
    const credentials = `client_id=${client.id}&client_secret=${client.secret}`
    for (const path of FORM_PATHS) {
      for (const name of [
        'x',
        'grant_type',
        'code',
        'refresh_token',
        'token',
        'scope',
        'username',
      ]) {
        expectRefusal(await send(path, `${credentials}&${name}=a${bytes}`), 400)
      }
      expectRefusal(await send(path, `${credentials}&a${bytes}=1`), 400)
      expectRefusal(await send(path, `client_id=${bytes}&client_secret=x`), 400, 401)
    }
    for (const name of ['client_id', 'state', 'scope', 'x', 'redirect_uri']) {
      expectRefusal(await server.request(`/oauth/authorize?${name}=${bytes}`), 400)
    }
  })

  it('raw bytes that are not UTF-8 get 400', async () => {
    for (const bytes of [
      [0xff],
      [0xc0, 0xaf],
      [0xed, 0xa0, 0x80],
      [0xf8, 0x88, 0x80, 0x80, 0x80],
      [0],
    ]) {
      const form = Buffer.concat([Buffer.from('client_id='), Buffer.from(bytes)])
      expectRefusal(await send('/oauth/token', form), 400)
      const json = Buffer.concat([
        Buffer.from('{"name":"'),
        Buffer.from(bytes),
        Buffer.from(`","redirect":"${REDIRECT}"}`),
      ])
      expectRefusal(await sendJson('/oauth/clients', json), 400, 422)
    }
    for (const text of ['\\u0000', '\\ud800', '\\udc00\\ud800']) {
      const json = `{"name":"a${text}","redirect":"${REDIRECT}"}`
      expectRefusal(await sendJson('/oauth/clients', json), 400, 422)
      const scopes = `{"name":"a","scopes":["${text}"]}`
      expectRefusal(await sendJson('/oauth/personal-access-tokens', scopes), 422)
    }
  })

  it('NUL and malformed text in Basic credentials and in cookies cause no server error', async () => {
    for (const text of [
      '\0:\0',
      'a\0:b',
      '%00:x',
      '\ud800:x',
      'é:é',
      '%ED%A0%80:%ED%A0%80',
      ':',
      '',
    ]) {
      const authorization = `Basic ${Buffer.from(text).toString('base64')}`
      for (const path of FORM_PATHS) {
        expectRefusal(await send(path, 'grant_type=x&token=x', FORM, { authorization }), 401)
      }
    }
    expect(server.logged).toEqual([])
  })

  it.each(['👩‍👩‍👧‍👦', 'e\u0301', 'שלום', 'a\u{10ffff}', 'ﷺ', 'Ａ', 'ß', 'ﬀ'])(
    'the unusual but valid name %j is stored and returned exactly',
    async (name) => {
      const reply = await server.json('ada', 'POST', '/oauth/clients', { name, redirect: REDIRECT })
      expect(reply.status).toBe(201)
      const { id } = (await reply.json()) as { id: string }
      expect((await server.oauth.clients.find(id))?.name).toBe(name)
    },
  )
})

describe('attempts to inject code (threat I5):', () => {
  const payloads = [
    "' or '1'='1",
    '"; drop table oauth_tokens; --',
    "\\'; select 1 -- ",
    '1 union select * from oauth_keys',
    '%27%20or%201=1',
    '\u0024{jndi:ldap://evil.example}',
    '<script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    'a\r\nset-cookie: evil=1',
    'a\nlocation: https://evil.example',
    '../../../etc/passwd',
    '{{constructor.constructor("return 1")()}}',
    '*',
    '%',
    '_',
  ]
  it.each(payloads)('%j in any field is treated as plain text', async (payload) => {
    const count = async () => (await server.oauth.clients.list()).length
    const before = await count()
    const names = [
      'grant_type',
      'client_id',
      'client_secret',
      'code',
      'redirect_uri',
      'refresh_token',
      'scope',
      'username',
      'password',
      'token',
      'token_type_hint',
      'code_verifier',
    ]
    for (const path of FORM_PATHS) {
      for (const name of names) {
        const form = { client_id: client.id, client_secret: client.secret, [name]: payload }
        const reply = await server.post(path, form)
        expect(reply.status).toBeLessThan(500)
        expect(reply.headers.get('set-cookie')).toBeNull()
        expect(reply.headers.get('content-type')).toContain('json')
      }
    }
    for (const name of ['client_id', 'redirect_uri', 'response_type', 'scope', 'state', 'prompt']) {
      const asked = { client_id: client.id, redirect_uri: REDIRECT, response_type: 'code' }
      const reply = await requestAuthorization(server, 'ada', { ...asked, [name]: payload })
      expect(reply.status).toBeLessThan(500)
      expect(reply.headers.get('set-cookie')).toBeNull()
      const location = reply.headers.get('location')
      if (location) expect(location.startsWith(`${REDIRECT}?`)).toBe(true)
      expect(await reply.text()).not.toMatch(/<script|<img/)
    }
    expect(await count()).toBe(before)
    expect(server.logged).toEqual([])
  })

  // A parser with backtracking would need a minute.
  it('a text of 150 KB keeps no parser busy for long', async () => {
    const { findRedirectProblem: redirectProblem } = await import(
      '../../src/clients/redirect-uris.ts'
    )
    const { findNameProblem } = await import('../../src/clients/parse.ts')
    const { parseForm } = await import('../../src/http/form.ts')
    const { readCookie } = await import('../../src/http/cookies.ts')
    const { parsePresentedToken: parsePresented } = await import('../../src/guard/bearer.ts')
    const { parseScope, resolveScopes } = await import('../../src/scopes.ts')
    const { escapeHtml } = await import('@tollgate/http')
    const { toPrintable: printable } = await import('../../src/errors.ts')
    const policy = { defined: new Set(['a']), client: null, wildcard: 'refused' } as const
    const readers: Record<string, (text: string) => unknown> = {
      redirectProblem,
      findNameProblem,
      parseForm,
      parsePresented: (text) => parsePresented(`Bearer ${text}`),
      readCookie: (text) => readCookie(`tollgate_token${text}`, 'tollgate_token'),
      scopes: (text) => resolveScopes(parseScope(text), policy),
      escapeHtml,
      printable,
    }
    const texts = [
      'a',
      ' ',
      '.',
      '/',
      '%',
      '=',
      '&',
      ';',
      'a.',
      'a a',
      '%2e/',
      'http://',
      '\0',
      'é',
      '<',
    ]
      .map((unit) => unit.repeat(Math.ceil(150_000 / unit.length)))
      .flatMap((text) => [text, `${text}!`])
    for (const read of Object.values(readers)) {
      for (const text of texts) {
        try {
          read(text)
        } catch {}
      }
    }
  })
})

describe('hostile requests over the network (threat I5):', () => {
  let listening: ListeningServer
  beforeAll(async () => {
    listening = await listen()
  })
  afterAll(() => listening.close())

  /**
   * Writes raw bytes and returns the response, until the server closes the connection or is silent.
   */
  function exchange(bytes: string): Promise<string> {
    return new Promise((resolve) => {
      const socket = connect(Number(new URL(listening.url).port), '127.0.0.1')
      let reply = ''
      const done = () => {
        socket.destroy()
        resolve(reply)
      }
      socket.setTimeout(20_000, done)
      socket.on('data', (chunk) => {
        reply += chunk.toString('latin1')
      })
      socket.on('close', done)
      socket.on('error', done)
      socket.write(Buffer.from(bytes, 'latin1'))
    })
  }

  it('a request with ambiguous lengths (Content-Length, Transfer-Encoding) cannot hide a second request', async () => {
    const inner = 'GET /.well-known/jwks.json HTTP/1.1\r\nHost: x\r\n\r\n'
    const head = `POST /oauth/token HTTP/1.1\r\nHost: x\r\nContent-Type: ${FORM}\r\n`
    const attempts = [
      `${head}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${inner}`,
      `${head}Content-Length: 3\r\nContent-Length: 40\r\n\r\na=b${inner}`,
      `${head}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${inner}`,
      `${head}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${inner}`,
      `${head}Content-Length: +3\r\n\r\na=b${inner}`,
    ]
    for (const attempt of attempts) {
      const reply = await exchange(attempt)
      expect(reply).not.toContain('"keys"')
    }
  })

  it('a body that the caller aborts causes no log entry, and the server keeps serving requests', async () => {
    const head = `POST /oauth/token HTTP/1.1\r\nHost: x\r\nContent-Type: ${FORM}\r\nContent-Length: 100\r\n\r\n`
    for (let i = 0; i < 20; i += 1) {
      const socket = connect(Number(new URL(listening.url).port), '127.0.0.1')
      await new Promise<void>((resolve) => socket.write(`${head}grant_type=`, () => resolve()))
      socket.resetAndDestroy()
    }
    await new Promise((resolve) => setTimeout(resolve, 100))
    const reply = await fetch(`${listening.url}/.well-known/jwks.json`)
    expect(reply.status).toBe(200)
    expect(listening.logged).toEqual([])
  })

  it('an endless body is cut off early, and the connection is closed (threat I1)', async () => {
    const head = `POST /oauth/token HTTP/1.1\r\nHost: x\r\nContent-Type: ${FORM}\r\nTransfer-Encoding: chunked\r\n\r\n`
    const reply = await exchange(`${head}${`4000\r\n${'a'.repeat(0x4000)}\r\n`.repeat(10)}`)
    expect(reply).toMatch(/^HTTP\/1\.1 413 /)
    expect(reply.toLowerCase()).toContain('connection: close')
  })

  it('headers named like prototype properties have no effect (threat I2)', async () => {
    const reply = await exchange(
      'GET /.well-known/jwks.json HTTP/1.1\r\nHost: x\r\n__proto__: x\r\nconstructor: y\r\nConnection: close\r\n\r\n',
    )
    expect(reply).toMatch(/^HTTP\/1\.1 200 /)
  })

  it('X-Forwarded headers do not change the issuer', async () => {
    const headers = {
      host: 'evil.example',
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'https',
      forwarded: 'host=evil.example',
      'x-original-url': '/oauth/clients',
      'x-rewrite-url': '/oauth/clients',
    }
    const reply = await fetch(`${listening.url}/.well-known/oauth-authorization-server`, {
      headers,
    })
    expect(await reply.text()).not.toContain('evil.example')
    const asked = await fetch(`${listening.url}/oauth/clients`, {
      headers: { ...headers, accept: 'text/html' },
      redirect: 'manual',
    })
    expect(asked.headers.get('location')).toMatch(/^\/login\?/)
  })
})

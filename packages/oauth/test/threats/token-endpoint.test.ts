import { createHash, randomBytes } from 'node:crypto'
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
  type TokenReply,
} from '../support.ts'

interface Credentials {
  readonly id: string
  readonly secret: string
}

let server: TestServer
let client: Credentials
let other: Credentials
beforeAll(async () => {
  server = await startServer()
  client = await createClient(server)
  other = await createClient(server)
})
afterAll(() => server.close())

async function newCode(
  asked: Record<string, string> = {},
  owner: { readonly id: string } = client,
): Promise<string> {
  const params = { client_id: owner.id, redirect_uri: REDIRECT, response_type: 'code', ...asked }
  const page = await requestAuthorization(server, 'ada', { ...params, prompt: 'consent' })
  return (await submitApprovalDecision(server, 'ada', page)).searchParams.get('code') ?? ''
}

function redeem(code: string, form: Record<string, string> = {}): Promise<Response> {
  return server.post('/oauth/token', {
    grant_type: 'authorization_code',
    client_id: client.id,
    client_secret: client.secret,
    redirect_uri: REDIRECT,
    code,
    ...form,
  })
}

function refresh(text: string, form: Record<string, string> = {}): Promise<Response> {
  return server.post('/oauth/token', {
    grant_type: 'refresh_token',
    client_id: client.id,
    client_secret: client.secret,
    refresh_token: text,
    ...form,
  })
}

async function expectError(reply: Response, error: string, status = 400): Promise<string> {
  const text = await reply.text()
  expect(JSON.parse(text).error, text).toBe(error)
  expect(reply.status).toBe(status)
  expect(reply.headers.get('cache-control')).toContain('no-store')
  return text
}

async function opensGuard(text: string): Promise<boolean> {
  const credentials = { authorization: `Bearer ${text}`, cookie: null, csrfToken: null }
  try {
    await server.oauth.guard.authenticate('api', credentials)
    return true
  } catch {
    return false
  }
}

async function tokensOf(reply: Response): Promise<TokenReply> {
  expect(reply.status, await reply.clone().text()).toBe(200)
  return (await reply.json()) as TokenReply
}

describe('an authorization code (threat T1)', () => {
  it('can be exchanged once: a second use fails and revokes every token issued for the code', async () => {
    const code = await newCode()
    const first = await tokensOf(await redeem(code))
    const second = await tokensOf(await refresh(first.refresh_token))
    expect(await opensGuard(second.access_token)).toBe(true)
    await expectError(await redeem(code), 'invalid_grant')
    for (const text of [first.access_token, second.access_token]) {
      expect(await opensGuard(text)).toBe(false)
    }
    for (const text of [first.refresh_token, second.refresh_token]) {
      await expectError(await refresh(text), 'invalid_grant')
    }
  })

  it('has its tokens revoked by a second use, however late, and even if the rest of the request is invalid', async () => {
    for (const form of [{ redirect_uri: 'https://evil.example' }, { code_verifier: 'x' }]) {
      const code = await newCode()
      const tokens = await tokensOf(await redeem(code))
      server.clock.advance({ hours: 1 })
      await expectError(await redeem(code, form), 'invalid_grant')
      expect(await opensGuard(tokens.access_token)).toBe(false)
    }
  })

  it('works only for its client, and stays valid if another client sends it', async () => {
    const code = await newCode()
    const foreign = { client_id: other.id, client_secret: other.secret }
    await expectError(await redeem(code, foreign), 'invalid_grant')
    expect((await redeem(code)).status).toBe(200)
    const tokens = await redeem(code, foreign)
    await expectError(tokens, 'invalid_grant')
  })

  it.each([
    ['another redirect URI', 'https://evil.example/callback'],
    ['an extra slash', `${REDIRECT}/`],
    ['another letter case', REDIRECT.toUpperCase()],
    ['an additional query', `${REDIRECT}?x=1`],
    ['none', ''],
  ])('is refused if the redirect_uri in the token request is %s', async (_, redirectUri) => {
    const code = await newCode()
    await expectError(await redeem(code, { redirect_uri: redirectUri }), 'invalid_grant')
    expect((await redeem(code)).status).toBe(200)
  })

  it('requires the exact loopback port of the authorization request', async () => {
    const native = await createClient(server, { redirect: 'http://127.0.0.1/cb' })
    const code = await newCode({ redirect_uri: 'http://127.0.0.1:5001/cb' }, native)
    const form = { client_id: native.id, client_secret: native.secret }
    for (const port of ['', ':5002', ':05001']) {
      const wrong = { ...form, redirect_uri: `http://127.0.0.1${port}/cb` }
      await expectError(await redeem(code, wrong), 'invalid_grant')
    }
    const right = { ...form, redirect_uri: 'http://127.0.0.1:5001/cb' }
    expect((await redeem(code, right)).status).toBe(200)
  })

  it('expires after 60 seconds', async () => {
    const codes = [await newCode(), await newCode()]
    server.clock.advance({ seconds: 59 })
    expect((await redeem(codes[0] ?? '')).status).toBe(200)
    server.clock.advance({ seconds: 1 })
    await expectError(await redeem(codes[1] ?? ''), 'invalid_grant')
  })
})

describe('a code or refresh token that is damaged, expired, of another client, or of the other kind (threat T2)', () => {
  it('always gets the same invalid_grant response, byte for byte', async () => {
    const code = await newCode()
    const tokens = await runCodeFlow(server, client)
    const foreign = await runCodeFlow(server, other)
    const personal = await server.oauth.tokens.createPersonal({ userId: 'ada', name: 'x' })
    const wrong = [
      'x',
      code.slice(0, -1),
      `${code}x`,
      code.toUpperCase(),
      flip(code),
      tokens.access_token,
      tokens.refresh_token,
      personal.accessToken,
      client.secret,
      client.id,
      "' or '1'='1",
      '__proto__',
      'null',
      randomBytes(8000).toString('base64url'),
    ]
    const texts = new Set<string>()
    for (const text of wrong) texts.add(await expectError(await redeem(text), 'invalid_grant'))
    expect(texts.size).toBe(1)

    const [row, generation, mac] = tokens.refresh_token.slice(4).split('.')
    const wrongRefresh = [
      'x',
      tokens.refresh_token.slice(0, -1),
      `${tokens.refresh_token}x`,
      flip(tokens.refresh_token),
      `tgr_${row}.${Number(generation) + 1}.${mac}`,
      `tgr_${row}.0${generation}.${mac}`,
      `tgr_${row}.-1.${mac}`,
      `tgr_${row?.toUpperCase()}.${generation}.${mac}`,
      `tgr_${foreign.refresh_token.slice(4).split('.')[0]}.${generation}.${mac}`,
      ` ${tokens.refresh_token}`,
      `${tokens.refresh_token}\n`,
      foreign.refresh_token,
      tokens.access_token,
      code,
      personal.accessToken,
      'tgr_..',
      `tgr_${'a'.repeat(60_000)}`,
    ]
    texts.clear()
    for (const text of wrongRefresh) {
      texts.add(await expectError(await refresh(text), 'invalid_grant'))
    }
    expect(texts.size).toBe(1)
    // None of these was the real token, so nothing was revoked.
    expect((await refresh(tokens.refresh_token)).status).toBe(200)
    expect((await redeem(code)).status).toBe(200)
  })
})

/** Replaces the last but one character. */
function flip(text: string): string {
  const at = text.length - 2
  return `${text.slice(0, at)}${text[at] === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`
}

describe('the grants of a client (threat T3):', () => {
  it.each([
    ['password', 'unauthorized_client'],
    ['client_credentials', 'unauthorized_client'],
    ['implicit', 'unsupported_grant_type'],
    ['personal_access', 'unsupported_grant_type'],
    ['urn:ietf:params:oauth:grant-type:device_code', 'unsupported_grant_type'],
    ['AUTHORIZATION_CODE', 'unsupported_grant_type'],
    ['__proto__', 'unsupported_grant_type'],
    ['constructor', 'unsupported_grant_type'],
    ['toString', 'unsupported_grant_type'],
    ['', 'invalid_request'],
  ])('a client that was not given grant_type=%s gets %s', async (grantType, error) => {
    const form = { username: 'ada@example.com', password: 'correct horse' }
    await expectError(await redeem('x', { grant_type: grantType, ...form }), error)
  })

  it('a client without the refresh_token grant neither gets nor can use a refresh token', async () => {
    const plain = await createClient(server, { grants: ['authorization_code'] })
    const tokens = await runCodeFlow(server, plain)
    expect(tokens).not.toHaveProperty('refresh_token')
    const theirs = await runCodeFlow(server, client)
    const form = { client_id: plain.id, client_secret: plain.secret }
    await expectError(await refresh(theirs.refresh_token, form), 'unauthorized_client')
  })

  it('the personal access client, to which personal access tokens belong, cannot get a token', async () => {
    await server.oauth.tokens.createPersonal({ userId: 'ada', name: 'x' })
    for (const grant of ['personal_access', 'client_credentials', 'refresh_token', 'password']) {
      const form = { grant_type: grant, client_id: 'personal-access' }
      expect((await server.post('/oauth/token', form)).status).toBe(400)
    }
  })
})

describe('client authentication (threat T4)', () => {
  const send = (headers: Record<string, string>, form: Record<string, string> = {}, query = '') =>
    server.post(`/oauth/token${query}`, { grant_type: 'client_credentials', ...form }, headers)
  const basic = (text: string | Buffer) => ({
    authorization: `Basic ${Buffer.from(text).toString('base64')}`,
  })
  let machine: Credentials
  beforeAll(async () => {
    machine = await createClient(server, { grants: ['client_credentials'] })
  })

  it('fails with 401 for wrong credentials', async () => {
    const { id, secret } = machine
    const upper = `${id}:${secret.toUpperCase()}`
    const attempts: Array<Promise<Response>> = [
      send({}),
      send({}, { client_id: id }),
      send({}, { client_id: id, client_secret: '' }),
      send({}, { client_id: id, client_secret: 'wrong' }),
      send({}, { client_id: id, client_secret: `${secret} ` }),
      send({}, { client_id: id, client_secret: secret.slice(0, -1) }),
      send({}, { client_id: `${id} `, client_secret: secret }),
      send({}, { client_id: id.toUpperCase(), client_secret: secret }),
      send({}, { client_id: client.id, client_secret: secret }),
      send({}, { client_secret: secret }),
      send({}, { client_id: '__proto__', client_secret: secret }),
      send({}, {}, `?client_id=${id}&client_secret=${secret}`),
      send({}, { client_id: id }, `?client_secret=${secret}`),
      send({ authorization: '' }),
      send({ authorization: 'Basic' }),
      send({ authorization: 'Basic !' }),
      send({ authorization: `Bearer ${secret}` }),
      send({ authorization: `Basic ${secret}` }),
      send(basic(id)),
      send(basic(`${id}:`)),
      send(basic(`:${secret}`)),
      send(basic(upper)),
      send(basic(`${id}:${secret}:`)),
      send(basic(`${id}:${secret}\0`)),
      send(basic(`${id}\0:${secret}`)),
      send(basic(`${id}%00:${secret}`)),
      send(basic('%00:%00')),
      send(basic(`${id}:%`)),
      send(basic(`${id}:%ff`)),
      send(basic(Buffer.from([0xff, 0x3a, 0xfe]))),
      send(basic(`%ED%A0%80:x`)),
      send(basic(`${'x'.repeat(6000)}:x`)),
      send({ authorization: `${basic(`${id}:${secret}`).authorization}, Basic x` }),
      send(basic(`${id}:${secret}`), { client_id: client.id }),
      send(basic('__proto__:x')),
    ]
    for (const [index, reply] of (await Promise.all(attempts)).entries()) {
      const text = await reply.text()
      expect([index, reply.status, text]).toEqual([index, 401, text])
      expect(JSON.parse(text).error).toBe('invalid_client')
      expect(text).not.toContain(secret)
    }
  })

  it('returns a challenge for wrong Basic credentials', async () => {
    const reply = await send(basic(`${machine.id}:wrong`))
    expect(reply.headers.get('www-authenticate')).toMatch(/^Basic /)
  })

  it('refuses two authentication methods in one request', async () => {
    const { id, secret } = machine
    const reply = await send(basic(`${id}:${secret}`), { client_secret: secret })
    await expectError(reply, 'invalid_request')
  })

  it('decodes Basic credentials as RFC 6749 appendix B says, with the scheme in any letter case', async () => {
    const encoded = [...machine.secret]
      .map((c) => `%${c.charCodeAt(0).toString(16).padStart(2, '0')}`)
      .join('')
    const { authorization } = basic(`${machine.id}:${encoded}`)
    for (const header of [authorization, authorization.replace('Basic', 'bASIC')]) {
      expect((await send({ authorization: header })).status).toBe(200)
    }
  })

  it('refuses a public client with a secret, and a confidential client without its secret', async () => {
    const app = await createClient(server, { confidential: false })
    const form = { client_id: app.id, client_secret: 'x' }
    await expectError(await redeem('x', form), 'invalid_client', 401)
    await expectError(await redeem('x', { client_secret: '' }), 'invalid_client', 401)
  })

  it('refuses the old secret immediately after a rotation because of a leak', async () => {
    const own = await createClient(server, { grants: ['client_credentials'] })
    const { secret } = await server.oauth.clients.rotateSecret(own.id)
    const form = (text: string | null) => ({ client_id: own.id, client_secret: text ?? '' })
    await expectError(await send({}, form(own.secret)), 'invalid_client', 401)
    expect((await send({}, form(secret))).status).toBe(200)
  })
})

describe('a refresh token (threat T5)', () => {
  it('works only for its client, which must authenticate itself', async () => {
    const tokens = await runCodeFlow(server, client)
    const foreign = { client_id: other.id, client_secret: other.secret }
    await expectError(await refresh(tokens.refresh_token, foreign), 'invalid_grant')
    const nobody = { client_secret: '' }
    await expectError(await refresh(tokens.refresh_token, nobody), 'invalid_client', 401)
    expect((await refresh(tokens.refresh_token)).status).toBe(200)
  })

  it('can reduce the scopes but never add any, even after a reduction; an empty scope parameter counts as absent', async () => {
    const both = 'place-orders check-status'
    let tokens = await runCodeFlow(server, client, { scope: both })
    const narrow = await tokensOf(await refresh(tokens.refresh_token, { scope: 'check-status' }))
    expect(narrow.scope).toBe('check-status')
    tokens = await tokensOf(await refresh(narrow.refresh_token, { scope: '' }))
    expect(tokens.scope).toBe(both)
    for (const scope of ['*', 'unknown', `${both} unknown`, `${both} *`, '__proto__', 'a"b']) {
      await expectError(await refresh(tokens.refresh_token, { scope }), 'invalid_scope')
    }
    // Refused requests have not used the token up.
    expect((await refresh(tokens.refresh_token)).status).toBe(200)
    const small = await runCodeFlow(server, client, { scope: 'check-status' })
    await expectError(await refresh(small.refresh_token, { scope: both }), 'invalid_scope')
  })
})

describe('the rotation of refresh tokens (threat T6)', () => {
  it('revokes the whole token family if an old refresh token is used after its successor', async () => {
    const first = await runCodeFlow(server, client)
    const second = await tokensOf(await refresh(first.refresh_token))
    const third = await tokensOf(await refresh(second.refresh_token))
    await expectError(await refresh(first.refresh_token), 'invalid_grant')
    await expectError(await refresh(third.refresh_token), 'invalid_grant')
    for (const { access_token } of [first, second, third]) {
      expect(await opensGuard(access_token)).toBe(false)
    }
  })

  it('returns the same refresh token, and no second one, if the request is repeated within ten seconds', async () => {
    const first = await runCodeFlow(server, client)
    const replies = [await refresh(first.refresh_token), await refresh(first.refresh_token)]
    const [one, two] = await Promise.all(replies.map(tokensOf))
    // The same claims; an ECDSA signature differs each time.
    const unsigned = /^[\w-]+\.[\w-]+\./.exec(one?.access_token ?? '')?.[0] ?? 'a JWT'
    expect(two).toEqual({ ...one, access_token: expect.stringMatching(`^${unsigned}`) })
  })

  it('does not let another client revoke a token family with an old refresh token that it has stolen', async () => {
    const first = await runCodeFlow(server, client)
    const second = await tokensOf(await refresh(first.refresh_token))
    server.clock.advance({ seconds: 60 })
    const foreign = { client_id: other.id, client_secret: other.secret }
    await expectError(await refresh(first.refresh_token, foreign), 'invalid_grant')
    expect(await opensGuard(second.access_token)).toBe(true)
  })

  it('does not accept repeated requests for longer if the clock is set back', async () => {
    const first = await runCodeFlow(server, client)
    const before = server.clock.now()
    await tokensOf(await refresh(first.refresh_token))
    server.clock.set(new Date(before.getTime() - 3600_000))
    try {
      await expectError(await refresh(first.refresh_token), 'invalid_grant')
    } finally {
      server.clock.set(before)
    }
  })
})

describe('the refresh tokens of a grant are no longer accepted (threat T7)', () => {
  const ends: ReadonlyArray<[string, (own: Credentials) => Promise<unknown>]> = [
    ['the user is revoked', () => server.oauth.revokeUser('ada')],
    ['the client is deleted', (own) => server.oauth.clients.revoke(own.id)],
    ['its secret is rotated', (own) => server.oauth.clients.rotateSecret(own.id)],
    ['the consent is revoked', (own) => server.oauth.consents.revoke('ada', own.id)],
    [
      'the account is missing, without a call of revokeUser()',
      async () => server.users.all.delete('ada'),
    ],
  ]
  it.each(ends)('when %s', async (_, end) => {
    const ada = await server.users.findById('ada')
    const own = await createClient(server)
    const tokens = await runCodeFlow(server, own)
    const pending = await newCode({}, own)
    await end(own)
    const form = { client_id: own.id, client_secret: own.secret }
    expect((await refresh(tokens.refresh_token, form)).status).toBeGreaterThanOrEqual(400)
    if (ada) server.users.all.set('ada', ada)
    // Refresh tokens stay revoked when the account or the client returns.
    expect((await refresh(tokens.refresh_token, form)).status).toBeGreaterThanOrEqual(400)
    if (_.includes('user') || _.includes('consent') || _.includes('deleted')) {
      expect(await opensGuard(tokens.access_token)).toBe(false)
      expect((await redeem(pending, form)).status).toBeGreaterThanOrEqual(400)
    }
  })
})

describe('the password grant (threat T8)', () => {
  let app: Credentials
  beforeAll(async () => {
    app = await createClient(server, { grants: ['password', 'refresh_token'] })
  })
  const signIn = (username: string, password: string, form: Record<string, string> = {}) =>
    server.post('/oauth/token', {
      grant_type: 'password',
      client_id: app.id,
      client_secret: app.secret,
      username,
      password,
      ...form,
    })

  it('returns the same response for an unknown user and a wrong password', async () => {
    const wrong = await expectError(await signIn('ada@example.com', 'x'), 'invalid_grant')
    const unknown = await expectError(await signIn('nobody@example.com', 'x'), 'invalid_grant')
    const long = await expectError(
      await signIn('ada@example.com', 'x'.repeat(9000)),
      'invalid_grant',
    )
    expect(new Set([wrong, unknown, long]).size).toBe(1)
  })

  it('compares the whole password, however long it is', async () => {
    const stem = 'p'.repeat(80)
    server.users.all.set('long', { id: 'long', email: 'long@example.com', password: `${stem}1` })
    expect((await signIn('long@example.com', `${stem}1`)).status).toBe(200)
    await expectError(await signIn('long@example.com', `${stem}2`), 'invalid_grant')
    await expectError(await signIn('long@example.com', stem), 'invalid_grant')
    // A NUL never reaches the application, which might truncate there.
    const cut = await signIn('long@example.com', `${stem}1\0x`)
    await expectError(cut, 'invalid_request')
  })

  it('treats user names that look alike as different users', async () => {
    for (const name of [
      'аda@example.com',
      'ADA@example.com',
      'ada@example.com ',
      'ada@exam\u200bple.com',
    ]) {
      await expectError(await signIn(name, 'correct horse'), 'invalid_grant')
    }
  })

  it('is the only grant whose tokens may have the scope *, which they keep at a refresh', async () => {
    const tokens = await tokensOf(await signIn('ada@example.com', 'correct horse', { scope: '*' }))
    const form = { client_id: app.id, client_secret: app.secret }
    const next = await tokensOf(await refresh(tokens.refresh_token, form))
    expect(next.scope).toBe('*')
    const narrow = { ...form, scope: 'check-status' }
    expect((await tokensOf(await refresh(next.refresh_token, narrow))).scope).toBe('check-status')
    const limited = await createClient(server, { grants: ['password'], scopes: ['check-status'] })
    const asked = { client_id: limited.id, client_secret: limited.secret, scope: '*' }
    await expectError(await signIn('ada@example.com', 'correct horse', asked), 'invalid_scope')
  })

  it('is off by default, as is the implicit grant', async () => {
    const { authorizationCode } = await import('../../src/index.ts')
    const strict = await startServer({ grants: [authorizationCode()] })
    try {
      const own = await createClient(strict, { grants: ['password', 'implicit'] })
      const form = { client_id: own.id, client_secret: own.secret, grant_type: 'password' }
      const user = { username: 'ada@example.com', password: 'correct horse' }
      const reply = await strict.post('/oauth/token', { ...form, ...user })
      await expectError(reply, 'unsupported_grant_type')
      const asked = { client_id: own.id, response_type: 'token' }
      const answered = new URL(
        (await requestAuthorization(strict, 'ada', asked)).headers.get('location') ?? '',
      )
      expect(answered.href).toContain('error=unsupported_response_type')
      expect(answered.href).not.toContain('access_token')
    } finally {
      await strict.close()
    }
  })
})

describe('unusual token requests (threat T9)', () => {
  it.each(['GET', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS'])(
    'get the status 405 with the method %s',
    async (method) => {
      const query = `grant_type=client_credentials&client_id=${client.id}&client_secret=${client.secret}`
      const reply = await server.request(`/oauth/token?${query}`, { method })
      expect(reply.status).toBe(405)
      expect(reply.headers.get('allow')).toBe('POST')
      expect(reply.headers.get('cache-control')).toContain('no-store')
    },
  )

  it('are not affected by method-override fields and headers', async () => {
    const headers = { 'x-http-method-override': 'POST', 'x-method-override': 'POST' }
    const reply = await server.request('/oauth/token?_method=POST', { headers })
    expect(reply.status).toBe(405)
  })

  it('may have unknown parameters, which are ignored, and empty ones, which count as absent', async () => {
    const code = await newCode()
    const extra = {
      foo: 'bar',
      __proto__x: '1',
      user_id: 'bob',
      scope: 'place-orders *',
      sub: 'bob',
    }
    const tokens = await tokensOf(await redeem(code, { ...extra, code_verifier: '', resource: '' }))
    // `scope` belongs to the authorization request; here it is unknown.
    expect(tokens.scope).toBe('')
    await expectError(await redeem('', {}), 'invalid_request')
  })

  it('are refused if a parameter is repeated', async () => {
    const code = await newCode()
    const form = new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: client.id,
      client_secret: client.secret,
      redirect_uri: REDIRECT,
      code,
    })
    for (const name of [...form.keys()]) {
      const twice = new URLSearchParams(form)
      twice.append(name, form.get(name) ?? '')
      const reply = await server.request('/oauth/token', { method: 'POST', body: twice })
      await expectError(reply, 'invalid_request')
    }
    expect((await redeem(code)).status).toBe(200)
  })
})

describe('PKCE at the token endpoint (threat T10)', () => {
  const verifier = randomBytes(32).toString('base64url')
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  const s256 = { code_challenge: challenge, code_challenge_method: 'S256' }

  it('requires the code verifier if the code was requested with a challenge', async () => {
    const code = await newCode(s256)
    for (const wrong of [
      '',
      challenge,
      verifier.slice(0, -1),
      `${verifier}x`,
      verifier.toUpperCase(),
      'a'.repeat(42),
      'a'.repeat(129),
      `${verifier}\n`,
      'ä'.repeat(43),
    ]) {
      await expectError(await redeem(code, { code_verifier: wrong }), 'invalid_grant')
    }
    expect((await redeem(code, { code_verifier: verifier })).status).toBe(200)
  })

  it('refuses a code verifier if the code was requested without a challenge', async () => {
    await expectError(await redeem(await newCode(), { code_verifier: verifier }), 'invalid_grant')
  })

  it.each([
    ['plain', challenge],
    ['', challenge],
    ['s256', challenge],
    ['S512', challenge],
    ['S256', ''],
    ['S256', challenge.slice(1)],
    ['S256', `${challenge}=`],
    ['S256', `${challenge}x`],
    ['S256', 'ä'.repeat(43)],
    ['S256', '"'.repeat(43)],
  ])(
    'refuses an authorization request with the method %j and the challenge %j',
    async (method, text) => {
      const asked = { client_id: client.id, redirect_uri: REDIRECT, response_type: 'code' }
      const params = { ...asked, code_challenge: text, code_challenge_method: method }
      const reply = await requestAuthorization(server, 'ada', params)
      expect(reply.headers.get('location')).toContain('error=invalid_request')
    },
  )

  it('is required for public clients', async () => {
    const app = await createClient(server, { confidential: false })
    const asked = { client_id: app.id, redirect_uri: REDIRECT, response_type: 'code' }
    const reply = await requestAuthorization(server, 'ada', asked)
    expect(reply.headers.get('location')).toContain('error=invalid_request')
    const code = await newCode(s256, app)
    const form = { client_id: app.id, client_secret: '' }
    await expectError(await redeem(code, form), 'invalid_grant')
    expect((await redeem(code, { ...form, code_verifier: verifier })).status).toBe(200)
  })
})

describe('the client credentials grant (threat T11)', () => {
  it('works only for confidential clients and their scopes, and issues no refresh token', async () => {
    const grants = ['client_credentials', 'refresh_token'] as const
    const machine = await createClient(server, { grants, scopes: ['check-status'] })
    const form = {
      grant_type: 'client_credentials',
      client_id: machine.id,
      client_secret: machine.secret,
    }
    const tokens = await tokensOf(
      await server.post('/oauth/token', { ...form, scope: 'check-status' }),
    )
    expect(tokens).not.toHaveProperty('refresh_token')
    for (const scope of ['place-orders', '*', 'check-status place-orders']) {
      await expectError(await server.post('/oauth/token', { ...form, scope }), 'invalid_scope')
    }
    const app = await createClient(server, { grants, confidential: false })
    const open = { grant_type: 'client_credentials', client_id: app.id }
    await expectError(await server.post('/oauth/token', open), 'unauthorized_client')
  })
})

describe('introspection and revocation (threat T14)', () => {
  const introspect = (token: string, by: Credentials) =>
    server.post('/oauth/introspect', { token, client_id: by.id, client_secret: by.secret })

  it('require authentication, and introspection requires a confidential client', async () => {
    const tokens = await runCodeFlow(server, client)
    const app = await createClient(server, { confidential: false })
    const attempts = [
      server.post('/oauth/introspect', { token: tokens.access_token }),
      introspect(tokens.access_token, { id: client.id, secret: 'wrong' }),
      introspect(tokens.access_token, app),
      server.post('/oauth/introspect', { token: tokens.access_token }, bearer(tokens.access_token)),
    ]
    for (const reply of await Promise.all(attempts)) {
      await expectError(reply, 'invalid_client', 401)
    }
  })

  it('return the same for a token of another client as for an unknown token', async () => {
    const tokens = await runCodeFlow(server, client)
    for (const text of [
      tokens.access_token,
      tokens.refresh_token,
      'none',
      flip(tokens.access_token),
    ]) {
      expect(await (await introspect(text, other)).text()).toBe('{"active":false}')
    }
    const api = await createClient(server, { resourceServer: true })
    expect(await (await introspect(tokens.access_token, api)).json()).toMatchObject({
      active: true,
      sub: 'user:ada',
      client_id: client.id,
    })
  })

  it('agree with the guard: introspection returns active exactly for the tokens that a guard accepts', async () => {
    const own = await createClient(server)
    const tokens = await runCodeFlow(server, own)
    const agree = async (expected: boolean) => {
      const reply = (await (await introspect(tokens.access_token, own)).json()) as {
        active: boolean
      }
      expect([reply.active, await opensGuard(tokens.access_token)]).toEqual([expected, expected])
    }
    await agree(true)
    const listed = await server.oauth.tokens.listByUser('ada')
    await server.oauth.tokens.revoke(listed.find(({ clientId }) => clientId === own.id)?.id ?? '')
    await agree(false)
    expect(await (await introspect(tokens.refresh_token, own)).text()).toBe('{"active":false}')
  })

  it('do not accept a complete Authorization header instead of a token, even if the guard has cached that header', async () => {
    const own = await createClient(server)
    const { access_token: text } = await runCodeFlow(server, own)
    expect(await opensGuard(text)).toBe(true)
    expect(await (await introspect(`Bearer ${text}`, own)).json()).toEqual({ active: false })
    expect(await (await introspect(text, own)).json()).toMatchObject({ active: true })
  })

  it('treat a refresh token as inactive if it was used, has expired, or is older than a rotation of the client secret', async () => {
    const own = await createClient(server)
    const first = await runCodeFlow(server, own)
    const form = { client_id: own.id, client_secret: own.secret }
    const second = await tokensOf(await refresh(first.refresh_token, form))
    expect(await (await introspect(first.refresh_token, own)).json()).toEqual({ active: false })
    expect(await (await introspect(second.refresh_token, own)).json()).toMatchObject({
      active: true,
    })
    const { secret } = await server.oauth.clients.rotateSecret(own.id)
    const rotated = { id: own.id, secret: secret ?? '' }
    expect(await (await introspect(second.refresh_token, rotated)).json()).toEqual({
      active: false,
    })
  })

  it('neither change nor reveal anything about tokens of other clients', async () => {
    const tokens = await runCodeFlow(server, client)
    const revoke = (token: string, by: Credentials) =>
      server.post('/oauth/revoke', { token, client_id: by.id, client_secret: by.secret })
    for (const text of [tokens.access_token, tokens.refresh_token, 'none', '']) {
      const reply = await revoke(text, other)
      if (text !== '') expect([reply.status, await reply.text()]).toEqual([200, '{}'])
    }
    expect(await opensGuard(tokens.access_token)).toBe(true)
    expect((await revoke(tokens.refresh_token, { ...client, secret: 'x' })).status).toBe(401)
    const next = await tokensOf(await refresh(tokens.refresh_token))
    // An old refresh token still identifies its family, and revokes the access tokens with it.
    expect((await revoke(tokens.refresh_token, client)).status).toBe(200)
    for (const { access_token } of [tokens, next])
      expect(await opensGuard(access_token)).toBe(false)
    await expectError(await refresh(next.refresh_token), 'invalid_grant')
  })

  it('let a public client revoke its own tokens', async () => {
    const app = await createClient(server, { confidential: false, grants: ['password'] })
    const user = { username: 'ada@example.com', password: 'correct horse' }
    const form = { grant_type: 'password', client_id: app.id, ...user }
    const tokens = await tokensOf(await server.post('/oauth/token', form))
    await server.post('/oauth/revoke', { client_id: app.id, token: tokens.access_token })
    expect(await opensGuard(tokens.access_token)).toBe(false)
  })

  it('do not accept an access token as the authentication for revoking or introspecting itself', async () => {
    const tokens = await runCodeFlow(server, client)
    const headers = bearer(tokens.access_token)
    const reply = await server.post('/oauth/revoke', { token: tokens.access_token }, headers)
    await expectError(reply, 'invalid_client', 401)
    expect(await opensGuard(tokens.access_token)).toBe(true)
  })
})

function bearer(text: string): Record<string, string> {
  return { authorization: `Bearer ${text}`, cookie: buildSessionCookie('ada') }
}

describe('the server metadata (threat T15)', () => {
  it('describes the real behaviour, lists neither alg none nor PKCE plain, and responses contain iss as announced', async () => {
    const reply = await server.request('/.well-known/oauth-authorization-server')
    const document = (await reply.json()) as Record<string, string[]>
    expect(document.issuer).toBe(server.url)
    expect(document.code_challenge_methods_supported).toEqual(['S256'])
    expect(document.introspection_endpoint_auth_methods_supported).not.toContain('none')
    expect(document.authorization_response_iss_parameter_supported).toBe(true)
    const page = await requestAuthorization(server, 'ada', {
      client_id: client.id,
      response_type: 'code',
      prompt: 'consent',
    })
    const answered = await submitApprovalDecision(server, 'ada', page, 'deny')
    expect(answered.searchParams.get('iss')).toBe(server.url)
    const keys = await (await server.request('/.well-known/jwks.json')).text()
    for (const key of JSON.parse(keys).keys) {
      for (const secret of ['d', 'k', 'p', 'q', 'dp', 'dq', 'qi'])
        expect(key).not.toHaveProperty(secret)
    }
  })
})

import {
  createHmac,
  createPublicKey,
  generateKeyPairSync,
  type JsonWebKey,
  type KeyObject,
  sign,
} from 'node:crypto'
import { fromWebRequest } from '@tollgate/http'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { GuardCredentials } from '../../src/index.ts'
import { InvalidToken } from '../../src/index.ts'
import {
  buildSessionCookie,
  createClient,
  listen,
  REDIRECT,
  requestAuthorization,
  runCodeFlow,
  SECRET,
  startServer,
  type TestServer,
  type TokenReply,
} from '../support.ts'

let server: TestServer
let statements: string[] = []
let client: { id: string; secret: string }
let tokens: TokenReply
beforeAll(async () => {
  server = await startServer({ connect: { onQuery: (sql) => statements.push(sql) } })
  client = await createClient(server, {
    grants: ['authorization_code', 'refresh_token', 'client_credentials'],
  })
})
afterAll(() => server.close())
beforeEach(async () => {
  tokens = await runCodeFlow(server, client)
})

const bearer = (text: string): GuardCredentials => ({
  authorization: `Bearer ${text}`,
  cookie: null,
  csrfToken: null,
})

/** Returns the status of a guarded route for these credentials: 200 if the guard accepts them. */
async function statusOf(
  credentials: GuardCredentials,
  guard: 'api' | 'client' = 'api',
  on = server,
): Promise<number> {
  try {
    await on.oauth.guard.authenticate(guard, credentials)
    return 200
  } catch (error) {
    const refusal = on.oauth.guard.refusal(error)
    expect(refusal.body).not.toMatch(/ at |node:|Error:/)
    return refusal.status
  }
}

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const decodePart = (text = '') => JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))

describe('the Authorization header at the guard (threat G1)', () => {
  it.each([
    ['an empty header', ''],
    ['only a scheme', 'Bearer'],
    ['a scheme and a space', 'Bearer '],
    ['two spaces after the scheme', 'Bearer  TOKEN'],
    ['a space after the token', 'Bearer TOKEN '],
    ['an additional part', 'Bearer TOKEN x'],
    ['a tab after the scheme', 'Bearer\tTOKEN'],
    ['no space after the scheme', 'BearerTOKEN'],
    ['another scheme', 'Basic TOKEN'],
    ['no scheme', 'TOKEN'],
    ['two schemes', 'Bearer Bearer TOKEN'],
    ['repeated', 'Bearer TOKEN, Bearer TOKEN'],
    ['a comma', 'Bearer TOKEN,'],
    ['a list', 'Bearer TOKEN,TOKEN'],
    ['quoted', 'Bearer "TOKEN"'],
    ['a parameter', 'Bearer token=TOKEN'],
    ['a NUL', 'Bearer TOKEN\0'],
    ['a line break', 'Bearer TOKEN\r\n'],
    ['huge', `Bearer ${'a'.repeat(1_000_000)}`],
    ['many dots', `Bearer ${'.'.repeat(100_000)}`],
    ['not ASCII', 'Bearer tökén'],
  ])(
    'gets a 401 without an internal error if it is malformed, even after its token was cached: %s',
    async (_, header) => {
      const authorization = header.replaceAll('TOKEN', tokens.access_token)
      expect(await statusOf({ ...bearer(''), authorization })).toBe(401)
      expect(await statusOf(bearer(tokens.access_token))).toBe(200)
      expect(await statusOf({ ...bearer(''), authorization })).toBe(401)
    },
  )

  it('may contain the scheme in any letter case', async () => {
    for (const scheme of ['bearer', 'BEARER', 'bEaReR']) {
      const authorization = `${scheme} ${tokens.access_token}`
      expect(await statusOf({ ...bearer(''), authorization })).toBe(200)
    }
  })

  it('is refused if it is malformed, even if the request also has a valid cookie', async () => {
    const { cookie, csrfToken } = await server.cookieMode('ada')
    expect(await statusOf({ authorization: 'Bearer x', cookie, csrfToken })).toBe(401)
    expect(await statusOf({ authorization: '', cookie, csrfToken })).toBe(401)
  })

  it('may be sent only once: two of them in one request over the network are an error', async () => {
    const { readNodeCredentials } = await import('../../src/adapters/node.ts')
    const { createServer, request } = await import('node:http')
    const seen: GuardCredentials[] = []
    const http = createServer((message, response) => {
      seen.push(readNodeCredentials(message))
      response.end()
    })
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
    const { port } = http.address() as { port: number }
    await new Promise((resolve) => {
      const value = `Bearer ${tokens.access_token}`
      const headers = ['host', 'x', 'Authorization', value, 'authorization', value]
      request({ port, headers, path: `/?access_token=${tokens.access_token}` }, resolve).end()
    })
    http.close()
    expect(seen).toHaveLength(1)
    expect(await statusOf(seen[0] ?? bearer(''))).toBe(401)
  })
})

function signES256(data: string, key: KeyObject): string {
  return sign('sha256', Buffer.from(data), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')
}

describe('protection against forged tokens (threat G2):', () => {
  /** Signs with the server's own key, so that only the check under test can reject the token. */
  async function signedByUs(header: object | null, claims: object): Promise<string> {
    const row = await server.database.kysely
      .selectFrom('oauth_keys')
      .selectAll()
      .executeTakeFirstOrThrow()
    const { compactDecrypt } = await import('jose')
    const { deriveKey } = await import('../../src/crypto.ts')
    const key = deriveKey(SECRET, 'signing keys')
    const { plaintext } = await compactDecrypt(row.sealed_private_jwk, key)
    const { createPrivateKey } = await import('node:crypto')
    const jwk = JSON.parse(new TextDecoder().decode(plaintext))
    const own = { alg: 'ES256', typ: 'at+jwt', kid: row.kid }
    const data = `${encode(header ?? own)}.${encode(claims)}`
    const privateKey = createPrivateKey({ key: jwk, format: 'jwk' })
    return `${data}.${signES256(data, privateKey)}`
  }

  it('a token that the test helper has created and not altered is accepted', async () => {
    const claims = decodePart(tokens.access_token.split('.')[1])
    expect(await statusOf(bearer(await signedByUs(null, claims)))).toBe(200)
  })

  it('unsigned tokens are refused, however the algorithm none is spelled', async () => {
    const [header, payload, signature] = tokens.access_token.split('.')
    const { kid } = decodePart(header)
    for (const alg of ['none', 'None', 'NONE', 'nOnE', '', null, undefined, 0, ['none'], {}]) {
      for (const tail of ['', signature, 'AA']) {
        for (const typ of ['at+jwt', 'JWT', undefined]) {
          const forged = `${encode({ alg, typ, kid })}.${payload}.${tail}`
          expect(await statusOf(bearer(forged)), forged).toBe(401)
        }
      }
    }
    for (const text of [
      `${header}.${payload}.`,
      `${header}.${payload}`,
      `${header}.${payload}..`,
    ]) {
      expect(await statusOf(bearer(text))).toBe(401)
    }
  })

  it('tokens signed by HMAC with the public key as the secret are refused, in any encoding of the key', async () => {
    const { keys } = (await (await server.request('/.well-known/jwks.json')).json()) as {
      keys: Array<JsonWebKey & { kid: string }>
    }
    const [jwk] = keys
    if (!jwk) throw new Error('There is no key')
    const publicKey = createPublicKey({ key: jwk, format: 'jwk' })
    const { kid, ...bare } = jwk
    const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString()
    const der = publicKey.export({ type: 'spki', format: 'der' })
    const encodings = [
      pem,
      pem.trim(),
      pem.replaceAll('\n', '\r\n'),
      pem.replaceAll('\n', ''),
      der,
      der.toString('base64'),
      der.toString('base64url'),
      der.toString('hex'),
      JSON.stringify(jwk),
      JSON.stringify(bare),
      JSON.stringify({ keys }),
      jwk.x ?? '',
      Buffer.from(jwk.x ?? '', 'base64url'),
      kid,
      '',
    ]
    const payload = tokens.access_token.split('.')[1]
    for (const key of encodings) {
      for (const [alg, hash] of [
        ['HS256', 'sha256'],
        ['HS384', 'sha384'],
        ['HS512', 'sha512'],
        ['ES256', 'sha256'],
        ['EdDSA', 'sha256'],
      ] as const) {
        const data = `${encode({ alg, typ: 'at+jwt', kid })}.${payload}`
        const mac = createHmac(hash, key).update(data).digest('base64url')
        expect(await statusOf(bearer(`${data}.${mac}`))).toBe(401)
      }
    }
  })

  it('tokens that contain their own verification key are refused', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const jwk = publicKey.export({ format: 'jwk' })
    const [header, payload] = tokens.access_token.split('.')
    const { kid } = decodePart(header)
    for (const extra of [
      {},
      { jwk },
      { kid: 'mine', jwk },
      { jku: 'https://evil.example/jwks.json' },
      { x5u: 'https://evil.example/x' },
      { x5c: ['MIIB'] },
      { crit: ['exp'] },
      { b64: false, crit: ['b64'] },
      { kid: '../../dev/null' },
      { kid: "' union select 1 --" },
      { kid: '__proto__' },
      { kid: 1 },
      { kid: null },
      { kid: [kid] },
    ]) {
      const data = `${encode({ alg: 'ES256', typ: 'at+jwt', kid, ...extra })}.${payload}`
      expect(await statusOf(bearer(`${data}.${signES256(data, privateKey)}`))).toBe(401)
    }
  })

  it('tokens with a wrong header or claim are refused even if the signature is valid', async () => {
    const claims = decodePart(tokens.access_token.split('.')[1])
    const { kid } = decodePart(tokens.access_token.split('.')[0])
    const now = server.clock.now().getTime() / 1000
    const { exp: _, ...withoutExp } = claims
    const { iat: __, ...withoutIat } = claims
    const { sub: ___, ...withoutSub } = claims
    const wrongHeaders = [
      { alg: 'ES256', typ: 'JWT', kid },
      { alg: 'ES256', kid },
      { alg: 'ES384', typ: 'at+jwt', kid },
      { alg: 'EdDSA', typ: 'at+jwt', kid },
      { typ: 'at+jwt', alg: 'ES256', kid },
      { alg: 'ES256', typ: 'AT+JWT', kid },
      { alg: 'ES256', typ: 'at+jwt', kid, x: 1 },
    ]
    for (const header of wrongHeaders) {
      expect(await statusOf(bearer(await signedByUs(header, claims)))).toBe(401)
    }
    const wrongClaims = [
      withoutExp,
      withoutIat,
      withoutSub,
      { ...claims, exp: now - 1 },
      { ...claims, exp: now },
      { ...claims, exp: String(claims.exp) },
      { ...claims, exp: null },
      { ...claims, exp: [claims.exp] },
      { ...claims, exp: -1 },
      { ...claims, iat: now + 61 },
      { ...claims, iat: '0' },
      { ...claims, iss: 'https://evil.example' },
      { ...claims, iss: `${claims.iss}/` },
      { ...claims, iss: [claims.iss] },
      { ...claims, aud: 'https://other.example' },
      { ...claims, aud: [`${claims.aud}x`] },
      { ...claims, aud: [] },
      { ...claims, aud: ['https://other.example'] },
      { ...claims, aud: '' },
      { ...claims, sub: 'ada' },
      { ...claims, sub: '' },
      { ...claims, sub: { kind: 'user', id: 'ada' } },
      { ...claims, sub: 'admin:ada' },
      { ...claims, scope: ['place-orders'] },
      { ...claims, scope: null },
      { ...claims, jti: 7 },
      { ...claims, client_id: null },
      [],
      null,
      'x',
      1,
    ]
    for (const changed of wrongClaims) {
      const text = await signedByUs(null, changed as object)
      expect(await statusOf(bearer(text)), JSON.stringify(changed)).toBe(401)
    }
    const skewed = { ...claims, iat: now + 59 }
    expect(await statusOf(bearer(await signedByUs(null, skewed)))).toBe(200)
  })

  it('altered, truncated and re-encoded tokens are refused, even after the original was cached', async () => {
    const text = tokens.access_token
    expect(await statusOf(bearer(text))).toBe(200)
    const [header = '', payload = '', signature = ''] = text.split('.')
    const claims = decodePart(payload)
    const standard = Buffer.from(signature, 'base64url').toString('base64')
    const altered = [
      `${header}.${encode({ ...claims, sub: 'user:bob' })}.${signature}`,
      `${header}.${encode({ ...claims, scope: '*' })}.${signature}`,
      `${header}.${encode({ ...claims, exp: claims.exp + 1 })}.${signature}`,
      `${header}.${payload}.${signature}=`,
      `${header}.${payload}.${signature}==`,
      `${header}.${payload}.${standard}`,
      `${header}.${payload}.${`${signature.slice(0, -1)}${signature.endsWith('A') ? 'B' : 'A'}`}`,
      `${header}.${payload}.${setUnusedBit(signature)}`,
      `${header}.${payload}=.${signature}`,
      `${header}=.${payload}.${signature}`,
      `${header}.${payload}.${signature}.`,
      `.${header}.${payload}.${signature}`,
      `${header}.${payload}.${signature}.${signature}`,
      `${header}..${signature}`,
      `${payload}.${header}.${signature}`,
      text.toUpperCase(),
      ...[1, 2, 10, 43, 60, 86].map((cut) => text.slice(0, -cut)),
    ]
    for (const forged of altered) expect(await statusOf(bearer(forged)), forged).toBe(401)
  })

  it('tokens of another kind or another server are refused', async () => {
    const twin = await startServer({ issuer: 'http://localhost:4998' })
    const sameName = await startServer({ secret: `another ${SECRET}` })
    try {
      for (const stranger of [twin, sameName]) {
        const own = await createClient(stranger)
        const theirs = await runCodeFlow(stranger, own)
        expect(await statusOf(bearer(theirs.access_token))).toBe(401)
        // With the kid of this server's key instead of theirs.
        const [, payload, signature] = theirs.access_token.split('.')
        const [header] = tokens.access_token.split('.')
        expect(await statusOf(bearer(`${header}.${payload}.${signature}`))).toBe(401)
      }
    } finally {
      await twin.close()
      await sameName.close()
    }
    const { cookie } = await server.cookieMode('ada')
    const others = [tokens.refresh_token, client.secret, client.id, cookie.split('=')[1] ?? '']
    for (const text of others) expect(await statusOf(bearer(text))).toBe(401)
  })

  it.each(['EdDSA', 'ES256', 'RS256'] as const)(
    'tokens signed with %s, and opaque tokens, are refused if any character is changed',
    async (alg) => {
      for (const accessTokenFormat of ['jwt', 'opaque'] as const) {
        const own = await startServer({ signingAlgorithm: alg, accessTokenFormat })
        try {
          const theirs = await runCodeFlow(own, await createClient(own))
          const text = theirs.access_token
          expect(await statusOf(bearer(text), 'api', own)).toBe(200)
          for (let at = 4; at < text.length; at += 7) {
            const changed = text[at] === 'A' ? 'B' : 'A'
            const forged = `${text.slice(0, at)}${changed}${text.slice(at + 1)}`
            expect(await statusOf(bearer(forged), 'api', own)).toBe(401)
          }
          expect(await statusOf(bearer(text.slice(0, -1)), 'api', own)).toBe(401)
          expect(await statusOf(bearer(`${text}A`), 'api', own)).toBe(401)
        } finally {
          await own.close()
        }
      }
    },
  )

  it('a token in the cache is refused as soon as it expires', async () => {
    const brief = await startServer({ accessTokensExpireIn: '60s' })
    try {
      const { access_token } = await runCodeFlow(brief, await createClient(brief))
      for (let i = 0; i < 1000; i += 1) await statusOf(bearer(access_token), 'api', brief)
      brief.clock.advance({ seconds: 59 })
      expect(await statusOf(bearer(access_token), 'api', brief)).toBe(200)
      brief.clock.advance({ seconds: 1 })
      expect(await statusOf(bearer(access_token), 'api', brief)).toBe(401)
    } finally {
      await brief.close()
    }
  })
})

/**
 * Sets one of the 4 unused bits in the last base64url character of 64 bytes: another spelling of
 * the same bytes.
 */
function setUnusedBit(signature: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const last = alphabet.indexOf(signature.at(-1) ?? 'A')
  return `${signature.slice(0, -1)}${alphabet[last ^ 1]}`
}

describe('the guard (threat G2) distinguishes users and clients', () => {
  it('the token of a client is refused at routes for users, even if a user has the id of the client', async () => {
    server.users.all.set(client.id, { id: client.id, email: 'x@example.com', password: 'x' })
    const reply = await server.post('/oauth/token', {
      grant_type: 'client_credentials',
      client_id: client.id,
      client_secret: client.secret,
    })
    const { access_token } = (await reply.json()) as TokenReply
    expect(await statusOf(bearer(access_token), 'api')).toBe(401)
    expect(await statusOf(bearer(access_token), 'client')).toBe(200)
    expect(await statusOf(bearer(tokens.access_token), 'client')).toBe(401)
  })

  it('a user whose id looks like the subject of a client is still treated as this user', async () => {
    for (const id of ['client:x', 'user:bob', `client:${client.id}`, 'a:b', '*']) {
      server.users.all.set(id, { id, email: `${id}@example.com`, password: 'x' })
      const { accessToken } = await server.oauth.tokens.createPersonal({ userId: id, name: 'x' })
      const user = await server.oauth.guard.authenticate('api', bearer(accessToken))
      expect(user.id).toBe(id)
      expect(await statusOf(bearer(accessToken), 'client')).toBe(401)
    }
  })

  it('the cookie of cookie mode does not authenticate a client', async () => {
    const { cookie, csrfToken } = await server.cookieMode('ada')
    expect(await statusOf({ authorization: null, cookie, csrfToken }, 'client')).toBe(401)
  })
})

describe('revoking (threat G3)', () => {
  it('a token takes effect immediately in this process, even if the token is cached, and without an SQL statement', async () => {
    const own = await createClient(server)
    const seen = await runCodeFlow(server, own)
    for (let i = 0; i < 5; i += 1) expect(await statusOf(bearer(seen.access_token))).toBe(200)
    statements = []
    expect(await statusOf(bearer(seen.access_token))).toBe(200)
    await server.oauth.clients.revoke(own.id)
    const spent = statements.length
    expect(await statusOf(bearer(seen.access_token))).toBe(401)
    const polls = (sql: string) => sql.includes('oauth_revocations')
    expect(statements.slice(spent).filter((sql) => !polls(sql))).toEqual([])
  })

  it('a signing key invalidates all tokens signed with it, including cached ones', async () => {
    const own = await startServer()
    try {
      const { access_token } = await runCodeFlow(own, await createClient(own))
      expect(await statusOf(bearer(access_token), 'api', own)).toBe(200)
      const [key] = await own.oauth.keys.list()
      expect(await own.oauth.keys.revoke(key?.kid ?? '')).toBe(true)
      expect(await statusOf(bearer(access_token), 'api', own)).toBe(401)
      const next = await runCodeFlow(own, await createClient(own))
      expect(await statusOf(bearer(next.access_token), 'api', own)).toBe(200)
    } finally {
      await own.close()
    }
  })
})

describe('scopes and paths of guarded routes (threat G4):', () => {
  it('a missing scope gets 403 insufficient_scope, and the wildcard * counts only if it was granted', async () => {
    const { assertScopes, assertAnyScope } = await import('../../src/guard/guard.ts')
    const caller = await server.oauth.guard.authenticate('api', bearer(tokens.access_token))
    expect(caller.tokenCan('place-orders')).toBe(true)
    for (const name of [
      'check-status',
      '*',
      '',
      'place',
      'PLACE-ORDERS',
      'toString',
      '__proto__',
    ]) {
      expect(caller.tokenCan(name)).toBe(false)
      for (const check of [assertScopes, assertAnyScope]) {
        expect(() => check(caller, [name])).toThrow(expect.objectContaining({ status: 403 }))
      }
    }
    expect(() => assertScopes(caller, ['place-orders', 'check-status'])).toThrow()
    try {
      assertScopes(caller, ['check-status'])
    } catch (error) {
      const refusal = server.oauth.guard.refusal(error)
      expect(refusal.status).toBe(403)
      expect(refusal.headers['www-authenticate']).toContain('error="insufficient_scope"')
    }
  })

  it("unusual spellings of a route's path do not reach its handler", async () => {
    const paths = [
      '/oauth/clients/',
      '/oauth//clients',
      '//oauth/clients',
      '/OAUTH/clients',
      '/oauth/Clients',
      '/oauth/./clients',
      '/oauth/%2e/clients',
      '/oauth/x/../clients',
      '/oauth/x/%2e%2e/clients',
      'http://evil.example/oauth/clients',
      '/oauth%2fclients',
      '/oauth/clients%00',
      '/oauth/clients;x=1',
      '/oauth/clients%20',
      '/oauth/cl%69ents',
      '/oauth/clients/..%2fclients',
      '/oauth/clients/a/b/secret',
      '/oauth/clients//secret',
      `/oauth/clients/${'a'.repeat(65)}`,
      '/oauth/tokens/%2e%2e',
      '/oauth/tokens/*',
    ]
    for (const path of paths) {
      // As a Node server receives it: a `Request` would resolve some spellings beforehand.
      const response = server.oauth.handle({
        method: 'GET',
        path,
        query: '',
        header: (name) => (name === 'cookie' ? buildSessionCookie('ada') : null),
        text: async () => '',
        rawText: async () => '',
        toRequest: () =>
          new Request(server.url, { headers: { cookie: buildSessionCookie('ada') } }),
      })
      expect([path, response]).toEqual([path, null])
      expect(server.oauth.handles(path)).toBe(false)
    }
  })
})

describe('signing keys at the guard (threat G5):', () => {
  it('many tokens with unknown key ids cause only a limited number of database reads', async () => {
    const payload = tokens.access_token.split('.')[1]
    const flood = (count: number) =>
      Array.from({ length: count }, (_, i) => {
        const header = encode({ alg: 'ES256', typ: 'at+jwt', kid: `unknown-${Math.random()}-${i}` })
        return statusOf(bearer(`${header}.${payload}.${'A'.repeat(86)}`))
      })
    statements = []
    const started = performance.now()
    for (let round = 0; round < 3; round += 1) {
      expect(new Set(await Promise.all(flood(500)))).toEqual(new Set([401]))
    }
    const seconds = (performance.now() - started) / 1000
    const reads = statements.filter((sql) => sql.includes('oauth_keys')).length
    expect(reads).toBeLessThanOrEqual(2 * seconds + 2)
  })

  it('a key rotation makes no token invalid, whether or not keys are published in advance', async () => {
    const texts = [tokens.access_token]
    for (const immediately of [true, false, true]) {
      // Of two keys created in the same millisecond either may sign.
      server.clock.advance({ seconds: 1 })
      await server.oauth.keys.rotate({ immediately })
      texts.push((await runCodeFlow(server, client)).access_token)
    }
    server.clock.advance({ minutes: 6 })
    texts.push((await runCodeFlow(server, client)).access_token)
    expect(new Set(texts.map((text) => decodePart(text.split('.')[0]).kid)).size).toBeGreaterThan(2)
    for (const text of texts) expect(await statusOf(bearer(text))).toBe(200)
  })

  it('a token signed with one key that contains the id of another key is refused', async () => {
    server.clock.advance({ seconds: 1 })
    await server.oauth.keys.rotate({ immediately: true })
    const newer = await runCodeFlow(server, client)
    const [oldHeader, oldPayload, oldSignature] = tokens.access_token.split('.')
    const [newHeader, newPayload, newSignature] = newer.access_token.split('.')
    for (const text of [
      `${newHeader}.${oldPayload}.${oldSignature}`,
      `${oldHeader}.${newPayload}.${newSignature}`,
    ]) {
      expect(await statusOf(bearer(text))).toBe(401)
    }
  })
})

describe('the cookie of cookie mode (threat G6)', () => {
  it('must be sent with its CSRF token, whatever the method', async () => {
    const { cookie, csrfToken } = await server.cookieMode('ada')
    const bob = await server.cookieMode('bob')
    expect(await statusOf({ authorization: null, cookie, csrfToken })).toBe(200)
    for (const wrong of [null, '', 'x', bob.csrfToken, `${csrfToken}x`, csrfToken.slice(1)]) {
      expect(await statusOf({ authorization: null, cookie, csrfToken: wrong })).toBe(401)
    }
    for (const method of ['POST', 'PUT', 'DELETE']) {
      const path = method === 'POST' ? '/oauth/clients' : '/oauth/clients/x'
      const reply = await server.request(path, { method, headers: { cookie } })
      expect(reply.status).toBe(401)
    }
    // Without the CSRF token, the cookie does not allow reading either.
    expect((await server.request('/oauth/clients', { headers: { cookie } })).status).toBe(401)
  })

  it('is refused if it was altered, truncated, or belongs to another server', async () => {
    const { cookie, csrfToken } = await server.cookieMode('ada')
    const [name, value = ''] = cookie.split('=')
    const parts = value.split('.')
    const values = [
      '',
      value.slice(0, -1),
      `${value}x`,
      `${value.slice(0, 40)}${value[40] === 'A' ? 'B' : 'A'}${value.slice(41)}`,
      parts.slice(0, 4).join('.'),
      `${encode({ alg: 'none' })}.${parts[1]}.${parts[2]}.${parts[3]}.${parts[4]}`,
      `${encode({ alg: 'dir', enc: 'A128GCM' })}.${parts.slice(1).join('.')}`,
      `${encode({ alg: 'dir', enc: 'A256GCM', zip: 'DEF' })}.${parts.slice(1).join('.')}`,
      `${encode({ alg: 'PBES2-HS256+A128KW', enc: 'A256GCM', p2c: 1e9, p2s: 'x' })}.${parts.slice(1).join('.')}`,
      encode({ sub: 'ada', csrf: csrfToken, exp: 1e12, at: 0 }),
      `${encode({ alg: 'none' })}.${encode({ sub: 'ada', csrf: csrfToken })}.`,
      tokens.access_token,
      'x'.repeat(5000),
    ]
    for (const text of values) {
      const changed = { authorization: null, cookie: `${name}=${text}`, csrfToken }
      expect(await statusOf(changed)).toBe(401)
    }
  })

  it('is refused if it has expired, or was issued in the future', async () => {
    const { cookie, csrfToken } = await server.cookieMode('ada')
    const before = server.clock.now()
    server.clock.advance({ hours: 2 })
    expect(await statusOf({ authorization: null, cookie, csrfToken })).toBe(401)
    server.clock.set(new Date(before.getTime() - 3600_000))
    expect(await statusOf({ authorization: null, cookie, csrfToken })).toBe(401)
    server.clock.set(before)
    expect(await statusOf({ authorization: null, cookie, csrfToken })).toBe(200)
  })

  it('is refused after a sign-out or revokeUser(), and a new cookie is accepted after the next sign-in', async () => {
    const cookies = await server.cookieMode('ada')
    const sent = { authorization: null, ...cookies }
    expect(await statusOf(sent)).toBe(200)
    await server.oauth.endSession('ada.1')
    expect(await statusOf(sent)).toBe(401)
    const bob = { authorization: null, ...(await server.cookieMode('bob')) }
    await server.oauth.revokeUser('bob')
    expect(await statusOf(bob)).toBe(401)
    server.clock.advance({ seconds: 1 })
    expect(await statusOf({ authorization: null, ...(await server.cookieMode('bob')) })).toBe(200)
  })

  it('is not renewed without its session', async () => {
    const { cookie, csrfToken } = await server.cookieMode('bob')
    const renew = (cookies: string) =>
      server.request('/oauth/token/refresh', {
        method: 'POST',
        headers: { cookie: cookies, 'x-csrf-token': csrfToken },
      })
    expect((await renew(cookie)).status).toBe(401)
    expect((await renew(`${cookie}; ${buildSessionCookie('ada')}`)).status).toBe(401)
    const renewed = await renew(`${cookie}; ${buildSessionCookie('bob')}`)
    expect(renewed.status).toBe(200)
    expect(renewed.headers.get('set-cookie')).toContain('tollgate_token=')
  })

  it("matches the CSRF token of the same page, also after a change of the server's secret", async () => {
    const { cookie } = await server.cookieMode('bob')
    const changed = await startServer({ secret: [`another ${SECRET}`, SECRET] })
    try {
      const request = new Request(server.url, {
        headers: { cookie: `${cookie}; ${buildSessionCookie('bob')}` },
      })
      changed.clock.set(server.clock.now())
      const fresh = await changed.oauth.freshToken(fromWebRequest(request))
      const sent = { authorization: null, cookie: fresh.setCookie?.split(';')[0] ?? cookie }
      expect(await statusOf({ ...sent, csrfToken: fresh.csrfToken }, 'api', changed)).toBe(200)
    } finally {
      await changed.close()
    }
  })

  it("never contains the application's session id in plain text", async () => {
    const secretSession = `bob.${'s'.repeat(400)}`
    const page = await server.request(
      `/oauth/authorize?${new URLSearchParams({ client_id: client.id, response_type: 'code', scope: 'check-status' })}`,
      { headers: { cookie: `session=${secretSession}`, accept: 'text/html' } },
    )
    expect(page.status).toBe(200)
    await server.oauth.endSession(secretSession)
    for (const table of ['oauth_interactions', 'oauth_revocations'] as const) {
      const rows = await server.database.kysely.selectFrom(table).selectAll().execute()
      expect(JSON.stringify(rows)).not.toContain(secretSession)
    }
  })
})

describe('the attributes of the cookie of cookie mode (threat G7)', () => {
  it('are HttpOnly and SameSite=Lax, without Domain, and Secure on https', async () => {
    const safe = await startServer({ issuer: 'https://api.example.com' })
    try {
      for (const [on, secure] of [
        [server, false],
        [safe, true],
      ] as const) {
        const { csrfToken } = await on.cookieMode('bob')
        const reply = await on.request('/oauth/token/refresh', {
          method: 'POST',
          headers: { cookie: buildSessionCookie('bob'), 'x-csrf-token': csrfToken },
        })
        const header = reply.headers.get('set-cookie') ?? ''
        expect(header).toMatch(
          /^tollgate_token=[\w.-]+; Path=\/; Max-Age=7200; HttpOnly; SameSite=Lax/,
        )
        expect(header.includes('; Secure')).toBe(secure)
        expect(header.toLowerCase()).not.toContain('domain')
      }
    } finally {
      await safe.close()
    }
  })

  it('make no difference if the cookie is sent twice: the request is refused, in either order', async () => {
    const { cookie, csrfToken } = await server.cookieMode('bob')
    for (const header of [
      `${cookie}; ${cookie}`,
      `tollgate_token=x; ${cookie}`,
      `${cookie};tollgate_token=`,
      `${cookie}; a=b;  tollgate_token = x`,
    ]) {
      expect(await statusOf({ authorization: null, cookie: header, csrfToken })).toBe(401)
    }
    for (const header of [`a=b; ${cookie}`, `xtollgate_token=x; ${cookie}`, `; ;=;${cookie};`]) {
      expect(await statusOf({ authorization: null, cookie: header, csrfToken })).toBe(200)
    }
  })
})

describe('the approve and deny buttons of the approval screen (threat G8)', () => {
  async function openPage(user = 'bob'): Promise<{ action: string; csrf: string }> {
    const own = await createClient(server)
    const asked = { client_id: own.id, redirect_uri: REDIRECT, response_type: 'code' }
    const html = await (await requestAuthorization(server, user, asked)).text()
    return {
      action: /action="([^"]+)"/.exec(html)?.[1] ?? '',
      csrf: /name="csrf_token" value="([^"]+)"/.exec(html)?.[1] ?? '',
    }
  }

  function send(
    page: { action: string; csrf: string },
    headers: Record<string, string> = {},
    form: Record<string, string> = {},
  ): Promise<Response> {
    return server.post(
      page.action,
      { csrf_token: page.csrf, decision: 'approve', ...form },
      { cookie: buildSessionCookie('bob'), origin: server.url, ...headers },
    )
  }

  it('require the CSRF token of the page, and the person and the session that the page was shown to', async () => {
    const page = await openPage()
    const foreign = await openPage('ada')
    const wrong = [
      await send(page, {}, { csrf_token: '' }),
      await send(page, {}, { csrf_token: 'x' }),
      await send(page, {}, { csrf_token: foreign.csrf }),
      await send({ ...page, action: foreign.action }),
      await send(page, { cookie: buildSessionCookie('ada') }),
      await send(page, { cookie: 'session=bob.2' }),
      await send(page, { cookie: '' }),
      await send({ ...page, action: '/oauth/authorize' }),
      await send({ ...page, action: '/oauth/authorize?interaction=__proto__' }),
      await send(page, {}, { decision: 'APPROVE' }),
      await send(page, {}, { decision: '__proto__' }),
      await send(page, {}, { decision: 'constructor' }),
    ]
    for (const reply of wrong) {
      expect(reply.status).toBeGreaterThanOrEqual(400)
      expect(reply.status).toBeLessThan(500)
      expect(reply.headers.get('location')).toBeNull()
    }
    expect((await send(page)).status).toBe(303)
  })

  it("require that the request comes from the server's own origin", async () => {
    const page = await openPage()
    for (const headers of [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: `${server.url}.evil.example` },
      { origin: server.url.replace('http:', 'https:') },
      { origin: 'http://localhost:1' },
    ]) {
      expect((await send(page, headers)).status).toBe(403)
    }
    const { cookie } = { cookie: buildSessionCookie('bob') }
    for (const site of ['cross-site', 'same-site', 'none']) {
      const form = { csrf_token: page.csrf, decision: 'approve' }
      const reply = await server.post(page.action, form, { cookie, 'sec-fetch-site': site })
      expect(reply.status).toBe(403)
    }
    expect((await send(page)).status).toBe(303)
  })

  it('issue one code if they are pressed twice, or many times concurrently', async () => {
    const page = await openPage()
    const replies = await Promise.all(Array.from({ length: 20 }, () => send(page)))
    const codes = replies.filter(({ status }) => status === 303)
    expect(codes).toHaveLength(1)
    expect((await send(page, {}, { decision: 'deny' })).status).toBe(400)
  })

  it('do not work with other content types or with method overrides', async () => {
    const page = await openPage()
    const body = `csrf_token=${page.csrf}&decision=approve`
    for (const type of [
      'text/plain',
      'multipart/form-data; boundary=x',
      'application/json',
      'application/x-www-form-urlencodedx',
      'application/x-www-form-urlencoded, text/plain',
      '',
    ]) {
      const reply = await server.request(page.action, {
        method: 'POST',
        body,
        headers: { cookie: buildSessionCookie('bob'), origin: server.url, 'content-type': type },
      })
      expect([400, 415]).toContain(reply.status)
    }
    const get = await server.request(`${page.action}&${body}&_method=POST`, {
      headers: { cookie: buildSessionCookie('bob'), 'x-http-method-override': 'POST' },
    })
    expect(get.headers.get('location')).toBeNull()
    expect((await send(page)).status).toBe(303)
  })
})

it('the return address of the sign-in page never leads to another host (threat G8)', async () => {
  for (const path of ['/oauth/authorize', '/oauth/clients', '/oauth/tokens']) {
    const query = `client_id=${client.id}&response_type=code&x=//evil.example`
    const reply = await server.request(`${path}?${query}`, { headers: { accept: 'text/html' } })
    const location = new URL(reply.headers.get('location') ?? '', server.url)
    expect(location.origin).toBe(server.url)
    const back = location.searchParams.get('return_to') ?? ''
    expect(back).toMatch(/^\/oauth\/[a-z]+\?/)
    expect(new URL(back, server.url).origin).toBe(server.url)
  }
})

describe('errors of the guard over the network (threat G1)', () => {
  it('are all instances of InvalidToken, so that adapters need no special cases', async () => {
    const plain = await listen()
    try {
      const attempt = async () => plain.oauth.guard.authenticate('api', bearer('x'))
      await expect(attempt()).rejects.toBeInstanceOf(InvalidToken)
    } finally {
      await plain.close()
    }
  })
})

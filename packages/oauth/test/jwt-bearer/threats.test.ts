import { exportSPKI, importJWK, UnsecuredJWT } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { dpop, jwtClientAuthentication, openid } from '../../src/index.ts'
import { type KeyHolderKeys, newHolder, tokenProof } from '../dpop/support.ts'
import { callWith, type WebServer } from '../registration/support.ts'
import {
  ACME,
  ANYBODY,
  type AssertionServer,
  assertionFor,
  type Caller,
  CI,
  CLUSTER,
  claimsFrom,
  createSigner,
  GLOBEX,
  idJagFor,
  newCaller,
  newWorkload,
  OPAQUE,
  ORDERS,
  REPORTS,
  type Reply,
  type Signer,
  secondsOf,
  sendAssertion,
  sign,
  signBy,
  startAssertions,
  startWebServer,
} from './support.ts'

let server: AssertionServer
let other: Caller
let publicClient: Caller
beforeAll(async () => {
  server = await startAssertions({ features: [openid(), jwtClientAuthentication(), dpop()] })
  other = await newCaller(server)
  publicClient = await newCaller(server, { confidential: false })
  // The table must not find this user through a property inherited from `Object.prototype`.
  const id = String(Object.prototype)
  server.users.all.set(id, { id, email: 'inherited@example.com', password: 'none' })
})
afterAll(() => server.close())

/** A change of the honest request. */
interface Attack {
  readonly assertion: () => string | Promise<string>
  readonly client?: () => Caller
  readonly fields?: Record<string, string>
  readonly error?: string
}

const acme = (changes: Record<string, unknown> = {}, header: Record<string, unknown> = {}) => ({
  assertion: () => assertionFor(server, changes, header),
})
const idJag = (changes: Record<string, unknown> = {}, header: Record<string, unknown> = {}) => ({
  assertion: () => idJagFor(server, changes, header),
})
const globex = (changes: Record<string, unknown>) => ({
  assertion: () => signBy(server.issuers.globex, claimsFrom(server, GLOBEX, changes)),
})
const at = (seconds: number) => secondsOf(server) + seconds

async function passwordToken(scope: string): Promise<{ access_token: string; id_token: string }> {
  const shop = await newCaller(server, { grants: ['password', 'refresh_token'] })
  const reply = await server.post('/oauth/token', {
    ...{ grant_type: 'password', username: 'ada@example.com', password: 'correct horse' },
    ...{ client_id: shop.id, client_secret: shop.secret, scope },
  })
  return (await reply.json()) as { access_token: string; id_token: string }
}

const attacks: Record<string, Attack> = {
  'an issuer that is not listed': {
    assertion: () => signBy(server.issuers.acme, claimsFrom(server, 'https://evil.example')),
  },
  'no iss': acme({ iss: undefined }),
  'the issuer __proto__': acme({ iss: '__proto__' }),
  'another spelling of the issuer': acme({ iss: `${ACME}/` }),
  'this server as the issuer': acme({ iss: 'http://localhost:4999' }),
  'another audience': acme({ aud: 'https://elsewhere.example' }),
  'the token endpoint as the audience': acme({ aud: 'http://localhost:4999/oauth/token' }),
  'another spelling of the audience': acme({ aud: 'http://localhost:4999/' }),
  'this server next to another audience': acme({
    aud: ['http://localhost:4999', 'https://elsewhere.example'],
  }),
  'this server twice as the audience': acme({
    aud: ['http://localhost:4999', 'http://localhost:4999'],
  }),
  'no aud': acme({ aud: undefined }),
  'an empty audience': acme({ aud: [] }),
  'an unknown key': {
    assertion: async () => signBy(await createSigner('RS256'), claimsFrom(server, ACME)),
  },
  'a key of another trusted issuer': {
    assertion: () => signBy(server.issuers.globex, claimsFrom(server, ACME)),
  },
  'HS256 with the public key': {
    async assertion() {
      const key = await importJWK(server.issuers.acme.jwk, 'RS256')
      const secret = new TextEncoder().encode(await exportSPKI(key as CryptoKey))
      return sign(claimsFrom(server, ACME), secret, { alg: 'HS256', kid: 'key' })
    },
  },
  'no signature': { assertion: () => new UnsecuredJWT(claimsFrom(server, ACME)).encode() },
  'a signature that was cut off': {
    assertion: async () => (await assertionFor(server)).replace(/[^.]+$/, ''),
  },
  'claims that were changed after signing': {
    async assertion() {
      const [head, , signature] = (await assertionFor(server)).split('.')
      const claims = Buffer.from(JSON.stringify(claimsFrom(server, ACME))).toString('base64url')
      return [head, claims, signature].join('.')
    },
  },
  'no JWT': { assertion: () => 'assertion' },
  'an assertion that is too long': acme({ more: 'x'.repeat(16_000) }),
  'the typ of an access token': acme({}, { typ: 'at+jwt' }),
  'the typ of a logout token': acme({}, { typ: 'logout+jwt' }),
  'the typ of a client assertion': acme({}, { typ: 'client-authentication+jwt' }),
  'the typ of an ID-JAG, from an issuer without that profile': acme(
    { client_id: 'x' },
    { typ: 'oauth-id-jag+jwt' },
  ),
  'an ID-JAG without its typ': idJag({}, { typ: 'JWT' }),
  'an ID-JAG for another client': { ...idJag(), client: () => other },
  'an ID-JAG without client_id': idJag({ client_id: undefined }),
  'an ID-JAG without iat': idJag({ iat: undefined }),
  'an ID-JAG without jti': idJag({ jti: undefined }),
  'an ID-JAG for two audiences': idJag({ aud: ['http://localhost:4999', 'https://b.example'] }),
  'an assertion for another client': acme({ client_id: 'another-client' }),
  'a client_id that is no string': acme({ client_id: [] }),
  'an unknown resource in the assertion': {
    ...acme({ resource: 'https://api.elsewhere.example' }),
    error: 'invalid_target',
  },
  'an unknown resource in the request': {
    ...acme(),
    fields: { resource: 'https://api.elsewhere.example' },
    error: 'invalid_target',
  },
  'a resource that the assertion does not name': {
    ...acme({ resource: 'http://localhost:4999' }),
    fields: { resource: ORDERS },
    error: 'invalid_target',
  },
  'a resource that is no URL': acme({ resource: [7] }),
  'a resource that is an empty list': acme({ resource: [] }),
  'two resources in one string': acme({ resource: `${ORDERS} ${REPORTS}` }),
  'resources with different token formats': {
    ...acme(),
    fields: { resource: `${ORDERS} ${OPAQUE}` },
    error: 'invalid_target',
  },
  'a scope beyond the scopes of the issuer': {
    ...acme(),
    fields: { scope: 'place-orders' },
    error: 'invalid_scope',
  },
  'a scope beyond the assertion': {
    ...acme({ scope: 'place-orders' }),
    fields: { scope: 'check-status' },
    error: 'invalid_scope',
  },
  'a scope that the API does not know': {
    ...globex({}),
    fields: { scope: 'place-orders', resource: REPORTS },
    error: 'invalid_scope',
  },
  'the wildcard scope': { ...acme(), fields: { scope: '*' }, error: 'invalid_scope' },
  'an identity scope': { ...acme(), fields: { scope: 'openid' }, error: 'invalid_scope' },
  'a scope that is no string': acme({ scope: ['check-status'] }),
  'an ID token of the issuer': acme({ nonce: 'n' }),
  'an ID token of the issuer for its own client': acme({ aud: 'client-at-acme' }, { typ: 'JWT' }),
  'a logout token of the issuer without a typ': acme({ events: {} }),
  'an ID token of this server': {
    assertion: async () => (await passwordToken('openid')).id_token,
  },
  'an access token of this server': {
    assertion: async () => (await passwordToken('check-status')).access_token,
  },
  'a client assertion of the client itself': {
    assertion: () =>
      signBy(server.issuers.acme, claimsFrom(server, server.client.id, { sub: server.client.id })),
  },
  'an assertion that has expired': {
    assertion: () => assertionFor(server, { iat: at(-200), exp: at(-61) }),
  },
  'an assertion that is not valid yet': { assertion: () => assertionFor(server, { nbf: at(61) }) },
  'an assertion from the future': {
    assertion: () => assertionFor(server, { iat: at(61), exp: at(120) }),
  },
  'an assertion that lives too long': { assertion: () => assertionFor(server, { exp: at(601) }) },
  'an assertion that lives too long, near its end': {
    assertion: () => assertionFor(server, { iat: at(-3590), exp: at(10) }),
  },
  'an assertion that lives too long, without iat': {
    assertion: () => assertionFor(server, { iat: undefined, exp: at(661) }),
  },
  'an exp that is no number': acme({ exp: 'never' }),
  'no exp': acme({ exp: undefined }),
  'no jti': acme({ jti: undefined }),
  'an empty jti': acme({ jti: '' }),
  'a jti that is no string': acme({ jti: 7 }),
  'no sub': acme({ iss: ANYBODY, sub: undefined }),
  'an empty sub': acme({ iss: ANYBODY, sub: '' }),
  'a sub that is no string': acme({ iss: ANYBODY, sub: 17 }),
  'a sub that is a list': acme({ iss: ANYBODY, sub: ['17'] }),
  'a sub that is too long': acme({ iss: ANYBODY, sub: 'x'.repeat(1001) }),
  'an unknown subject': acme({ sub: '18' }),
  'the subject __proto__': acme({ sub: '__proto__' }),
  'a user who was removed': acme({ sub: '99' }),
  'a user id as subject': acme({ sub: 'ada' }),
  'an e-mail address from an issuer without emailDomains': acme({
    ...{ sub: '18', email: 'ada@example.com', email_verified: true },
  }),
  'an e-mail address that is not verified': globex({ sub: '18', email: 'bob@globex.example' }),
  'an e-mail address with a string as email_verified': globex({
    ...{ sub: '18', email: 'bob@globex.example', email_verified: 'true' },
  }),
  'an e-mail address of a domain that is not the issuer’s': globex({
    ...{ sub: '18', email: 'ada@example.com', email_verified: true },
  }),
  'an e-mail address in a list': globex({
    ...{ sub: '18', email: ['bob@globex.example'], email_verified: true },
  }),
  'an e-mail address with two domains': globex({
    ...{ sub: '18', email: 'ada@example.com@globex.example', email_verified: true },
  }),
  'an assertion that is bound to a key, without a proof': acme({ cnf: { jkt: 'x' } }),
  'an assertion that is bound to no key': acme({ cnf: { jkt: null } }),
  'an assertion with an empty cnf': acme({ cnf: null }),
  'an assertion that is bound to a certificate': acme({ cnf: { 'x5t#S256': 'x' } }),
  'a public client': { ...acme(), client: () => publicClient, error: 'unauthorized_client' },
}

describe('the JWT bearer grant (threat T17) refuses', () => {
  it.each(Object.entries(attacks))('a request with %s', async (_name, attack) => {
    const { assertion, client = () => server.client, fields, error = 'invalid_grant' } = attack
    const reply = await sendAssertion(server.oauth, client(), await assertion(), fields)
    expect(reply).toMatchObject({ status: 400, error })
    expect(reply).not.toHaveProperty('access_token')
  })

  it('nothing else: a valid request is accepted in each harmless variation', async () => {
    const honest = [
      await assertionFor(server),
      await assertionFor(server, { iss: ANYBODY, sub: 'x'.repeat(1000) }),
      await assertionFor(server, { more: 'x'.repeat(10_000) }),
      await assertionFor(server, { iat: at(60), exp: at(660) }),
      await assertionFor(server, { iat: undefined, exp: at(660) }),
      await assertionFor(server, { nbf: at(60) }),
      await assertionFor(server, { iat: at(-600), exp: at(-59) }),
      await idJagFor(server),
    ]
    for (const assertion of honest) {
      expect((await sendAssertion(server.oauth, server.client, assertion)).status).toBe(200)
    }
  })

  it.each([
    ['an assertion that has expired', 'its exp is missing, wrong or expired'],
    ['no exp', 'its exp is missing, wrong or expired'],
    ['an assertion that is not valid yet', 'its nbf is missing, wrong or expired'],
    ['another audience', 'its aud must be this server only'],
    ['the typ of an access token', 'its typ is wrong'],
    ['an assertion that lives too long', 'it may be valid for at most 600 seconds'],
    ['an ID-JAG for another client', 'it is for another client'],
  ])(
    'a request with %s, and tells the reason because the issuer did sign the assertion',
    async (name, why) => {
      const { assertion, client = () => server.client }: Attack = attacks[name] ?? acme()
      const reply = await sendAssertion(server.oauth, client(), await assertion())
      expect(reply.error_description).toBe(`The assertion is refused: ${why}`)
    },
  )

  it('a client that was not given the grant', async () => {
    const client = await newCaller(server, { grants: ['client_credentials'] })
    expect(await sendAssertion(server.oauth, client, await assertionFor(server))).toMatchObject({
      error: 'unauthorized_client',
    })
  })

  it('a client with a wrong secret', async () => {
    const client = { ...server.client, secret: 'wrong' }
    expect(await sendAssertion(server.oauth, client, await assertionFor(server))).toMatchObject({
      status: 401,
      error: 'invalid_client',
    })
  })

  it('unknown issuers and wrong keys with one error, and unknown and deleted users with another', async () => {
    const answer = async (name: string) => {
      const reply = await sendAssertion(
        server.oauth,
        server.client,
        (await attacks[name]?.assertion()) ?? '',
      )
      return JSON.stringify(reply)
    }
    expect(await answer('an issuer that is not listed')).toBe(await answer('an unknown key'))
    const unknown = await answer('an unknown subject')
    expect(await answer('a user who was removed')).toBe(unknown)
    expect(await answer('an e-mail address that is not verified')).toBe(unknown)
  })
})

describe('claims of unexpected types (threat T17)', () => {
  const names = 'iss sub aud exp nbf iat jti client_id scope resource cnf email email_verified'
  const values = [null, true, 7, -1, 1e300, '', 'x', [], [null], [[]], {}, { jkt: 1 }, ['x', 'y']]

  it.each(names.split(' '))(
    'the claim %s is ignored or refused, without an internal error',
    async (name) => {
      for (const value of values) {
        for (const sign of [assertionFor, idJagFor]) {
          const reply = await sendAssertion(
            server.oauth,
            server.client,
            await sign(server, { [name]: value }),
          )
          expect([200, 400], `${name}: ${JSON.stringify(value)}`).toContain(reply.status)
        }
      }
      expect(server.logged).toEqual([])
    },
  )
})

describe('an assertion that was used before (threat T17)', () => {
  it('is refused by the same process', async () => {
    const assertion = await assertionFor(server)
    expect((await sendAssertion(server.oauth, server.client, assertion)).status).toBe(200)
    expect(await sendAssertion(server.oauth, server.client, assertion)).toMatchObject({
      status: 400,
      error: 'invalid_grant',
      error_description: 'The assertion was used before',
    })
  })

  it('is refused by another process on the same database, and in concurrent requests', async () => {
    const second = server.another()
    await second.ready()
    const assertion = await assertionFor(server)
    const replies = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        sendAssertion(i % 2 ? second : server.oauth, server.client, assertion),
      ),
    )
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(replies.filter(({ error }) => error === 'invalid_grant')).toHaveLength(9)
  })

  it('is refused as already used until it expires, and then as expired', async () => {
    const assertion = await assertionFor(server)
    await sendAssertion(server.oauth, server.client, assertion)
    server.clock.advance({ seconds: 119 })
    await server.oauth.purge()
    expect(await sendAssertion(server.oauth, server.client, assertion)).toMatchObject({
      error: 'invalid_grant',
    })
  })

  it("does not prevent another issuer's assertion, or a client assertion, from using the same jti", async () => {
    const jti = 'one for all'
    const signer = await createSigner('ES256')
    const settings = {
      token_endpoint_auth_method: 'private_key_jwt' as const,
      jwks: { keys: [signer.jwk] },
    }
    const { id } = await newCaller(server, { grants: ['client_credentials'], settings })
    expect(
      (await sendAssertion(server.oauth, server.client, await assertionFor(server, { jti })))
        .status,
    ).toBe(200)
    const elsewhere = await signBy(server.issuers.globex, claimsFrom(server, GLOBEX, { jti }))
    expect((await sendAssertion(server.oauth, server.client, elsewhere)).status).toBe(200)
    const proof = await signBy(signer, claimsFrom(server, id, { sub: id, jti }))
    expect((await callWith(server, proof)).status).toBe(200)
  })
})

describe('an assertion (threat T17) is rejected as a credential by', () => {
  it.each([
    ['the guard', async (text: string) => guardStatus(text)],
    ['introspection', async (text: string) => introspectionOf(text)],
    ['client authentication', async (text: string) => (await callWith(server, text)).status],
    ['UserInfo', async (text: string) => userinfoStatus(text)],
  ])('%s', async (_name, use) => {
    expect([401, false]).toContain(await use(await assertionFor(server)))
    expect([401, false]).toContain(await use(await idJagFor(server)))
  })

  async function guardStatus(text: string): Promise<number> {
    const credentials = { authorization: `Bearer ${text}`, cookie: null, csrfToken: null }
    try {
      await server.oauth.guard.authenticate('api', credentials)
      return 200
    } catch (error) {
      return server.oauth.guard.refusal(error).status
    }
  }

  async function introspectionOf(token: string): Promise<unknown> {
    const { id: client_id, secret: client_secret } = server.client
    const reply = await server.post('/oauth/introspect', { token, client_id, client_secret })
    return ((await reply.json()) as { active: unknown }).active
  }

  async function userinfoStatus(text: string): Promise<number> {
    const headers = { authorization: `Bearer ${text}` }
    return (await server.request('/oauth/userinfo', { headers })).status
  }
})

describe('a workload (threat T17)', () => {
  const job = 'repo:acme/site:environment:production'
  let client: Caller
  beforeAll(async () => {
    client = await newWorkload(server, job)
    await newWorkload(server, 'repo:evil/site')
  })
  const tokenOf = (sub: string, changes: Record<string, unknown> = {}) =>
    signBy(server.issuers.ci, claimsFrom(server, CI, { sub, ...changes }))

  it.each([
    ['of a job that belongs to another client', () => tokenOf('repo:evil/site')],
    ['of a job without a client', () => tokenOf('repo:acme/site:pull_request')],
    ['for another audience', () => tokenOf(job, { aud: 'sts.amazonaws.com' })],
    ['without jti, if the issuer is not reusable', () => tokenOf(job, { jti: undefined })],
    [
      'of another platform with the same subject',
      () => signBy(server.issuers.ci, claimsFrom(server, CLUSTER, { sub: job })),
    ],
  ])('gets no access token with a platform token %s', async (_name, assertion) => {
    expect(await sendAssertion(server.oauth, client, await assertion())).toMatchObject({
      status: 400,
      error: 'invalid_grant',
    })
  })

  it('gets no access token with an assertion that names a user', async () => {
    expect(await sendAssertion(server.oauth, client, await assertionFor(server))).toMatchObject({
      error: 'unauthorized_client',
    })
  })

  it('gets no token by another grant, because its client has no secret', async () => {
    const form = { grant_type: 'client_credentials', client_id: client.id }
    expect((await server.post('/oauth/token', form)).status).toBe(400)
  })
})

describe('the keys of an assertion issuer (threat T17)', () => {
  let web: WebServer
  let remote: AssertionServer
  let signer: Signer
  /** Each test has its own issuer, because keys and failures are cached. */
  let used = 0
  beforeAll(async () => {
    web = await startWebServer()
    signer = await createSigner('ES256')
    remote = await startAssertions({}, () =>
      Array.from({ length: 10 }, (_, index) => ({
        issuer: `https://idp-${index}.example`,
        jwksUri: web.urlOf(`/${index}`, 'keys.example'),
        scopes: ['check-status'],
        userOf: { '17': 'ada' },
      })),
    )
  })
  afterAll(async () => {
    await remote.close()
    await web.close()
  })
  beforeEach(() => {
    used += 1
    web.asked.length = 0
    remote.logged.length = 0
  })
  const askBy = async (by = signer, kid = 'key'): Promise<Reply> => {
    const claims = claimsFrom(remote, `https://idp-${used}.example`)
    return sendAssertion(remote.oauth, remote.client, await signBy(by, claims, { kid }))
  }

  it('are fetched once, however many assertions are checked', async () => {
    web.answerJson({ keys: [signer.jwk] })
    for (let i = 0; i < 3; i += 1) expect((await askBy()).status).toBe(200)
    expect(web.asked).toHaveLength(1)
  })

  it('are fetched again if an assertion has an unknown key id, and the old key is refused afterwards', async () => {
    const next = await createSigner('ES256', 'next')
    web.answerJson({ keys: [signer.jwk] })
    expect((await askBy()).status).toBe(200)
    web.answerJson({ keys: [next.jwk] })
    remote.clock.advance({ seconds: 31 })
    expect((await askBy(next, 'next')).status).toBe(200)
    expect(await askBy()).toMatchObject({ error: 'invalid_grant' })
  })

  it.each([
    ['a server error', 500, '{}'],
    ['a 404', 404, '{}'],
    ['JSON that is no key set', 200, '[]'],
    ['text that is no JSON', 200, 'keys'],
  ])(
    'cause a temporary error and no token if they cannot be fetched because of %s',
    async (_what, status, text) => {
      web.answer((_request, response) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end(text),
      )
      const reply = await askBy()
      expect(reply).toMatchObject({ status: 503, error: 'temporarily_unavailable' })
      expect(JSON.stringify(reply)).not.toContain('keys.example')
      expect(remote.logged).toHaveLength(1)
    },
  )

  it('are logged as unavailable at most once a minute, however many requests arrive', async () => {
    web.answer((_request, response) => response.writeHead(500).end())
    for (const [seconds, lines] of [
      [1, 1],
      [59, 1],
      [1, 2],
    ] as const) {
      remote.clock.advance({ seconds: seconds })
      expect((await askBy()).status).toBe(503)
      expect(remote.logged).toHaveLength(lines)
    }
  })

  it('are not fetched for an issuer that is not listed', async () => {
    const claims = claimsFrom(remote, web.urlOf('/', 'keys.example'))
    await sendAssertion(remote.oauth, remote.client, await signBy(signer, claims))
    expect(web.asked).toHaveLength(0)
  })

  it('are not fetched from a private address unless it is allowed', async () => {
    const resolve = async () => [{ address: '127.0.0.1', family: 4 as const }]
    const closed = remote.another({ outgoing: { resolve } })
    web.answerJson({ keys: [signer.jwk] })
    const claims = claimsFrom(remote, `https://idp-${used}.example`)
    const reply = await sendAssertion(closed, remote.client, await signBy(signer, claims))
    expect(reply.status).toBe(503)
    expect(web.asked).toHaveLength(0)
  })
})

describe('assertions about users who were deleted or signed out (threat T17)', () => {
  it('get no token for a deleted user, even if they were issued before the deletion', async () => {
    const assertion = await assertionFor(server)
    const ada = server.users.all.get('ada')
    server.users.all.delete('ada')
    try {
      expect(await sendAssertion(server.oauth, server.client, assertion)).toMatchObject({
        error: 'invalid_grant',
      })
    } finally {
      if (ada) server.users.all.set('ada', ada)
    }
  })

  it('yield tokens that are revoked when the user is signed out everywhere', async () => {
    const { access_token } = await sendAssertion(
      server.oauth,
      server.client,
      await assertionFor(server),
    )
    await server.oauth.revokeUser('ada')
    const credentials = { authorization: `Bearer ${access_token}`, cookie: null, csrfToken: null }
    const verdict = (async () => server.oauth.guard.authenticate('api', credentials))()
    await expect(verdict).rejects.toMatchObject({ code: 'invalid_token' })
  })
})

describe('an ID-JAG bound to a DPoP key (threat T17)', () => {
  it('is accepted only from the holder of the key, and the issued token is bound to the key', async () => {
    const [own, thief] = [await newHolder(), await newHolder()]
    const by = async (holder: KeyHolderKeys) => {
      const assertion = await idJagFor(server, { cnf: { jkt: own.thumbprint } })
      const headers = { dpop: await tokenProof(server, holder) }
      return sendAssertion(server.oauth, server.client, assertion, {}, headers)
    }
    expect(await by(own)).toMatchObject({ status: 200, token_type: 'DPoP' })
    expect(await by(thief)).toMatchObject({ status: 400, error: 'invalid_grant' })
  })
})

import { decodeJwt } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createAuthorizationServer,
  jwtBearer,
  memoryStorage,
  openid,
  type TrustedIssuer,
} from '../../src/index.ts'
import { SCOPES, SECRET } from '../support.ts'
import {
  ACME,
  type AssertionServer,
  assertionFor,
  CI,
  CLUSTER,
  claimsFrom,
  createSigner,
  GLOBEX,
  idJagFor,
  MAIL,
  newCaller,
  newWorkload,
  ORDERS,
  REPORTS,
  sendAssertion,
  signBy,
  startAssertions,
} from './support.ts'

let server: AssertionServer
beforeAll(async () => {
  server = await startAssertions()
})
afterAll(() => server.close())

const ask = async (
  changes: Record<string, unknown> = {},
  fields: Record<string, string> = {},
  client = server.client,
) => sendAssertion(server.oauth, client, await assertionFor(server, changes), fields)

describe('jwtBearer()', () => {
  it('issues an access token, and no refresh token, for the user named in the assertion', async () => {
    const reply = await ask()
    expect(reply).toMatchObject({ status: 200, token_type: 'Bearer', scope: 'check-status' })
    expect(reply).not.toHaveProperty('refresh_token')
    expect(reply.expires_in).toBe(3600)
    const credentials = {
      authorization: `Bearer ${reply.access_token}`,
      cookie: null,
      csrfToken: null,
    }
    const user = await server.oauth.guard.authenticate('api', credentials)
    expect(user).toMatchObject({ id: 'ada' })
  })

  it('looks up the `sub` claim separately for each issuer: the same sub of two issuers means two users', async () => {
    const assertion = await signBy(server.issuers.globex, claimsFrom(server, GLOBEX))
    const reply = await sendAssertion(server.oauth, server.client, assertion)
    expect(decodeJwt(reply.access_token).sub).toBe('user:bob')
    expect(decodeJwt((await ask()).access_token).sub).toBe('user:ada')
  })

  it('finds a user by a verified e-mail address in a domain that belongs to the issuer', async () => {
    const claims = { sub: 'new', email: 'bob@globex.example', email_verified: true }
    const assertion = await signBy(server.issuers.globex, claimsFrom(server, GLOBEX, claims))
    const reply = await sendAssertion(server.oauth, server.client, assertion)
    expect(decodeJwt(reply.access_token).sub).toBe('user:bob')
  })

  it('finds a user by e-mail address if no lookup by sub is configured, whatever the letter case of the domain', async () => {
    const claims = { iss: MAIL, email: 'bob@MAIL.example', email_verified: true }
    expect(decodeJwt((await ask(claims)).access_token).sub).toBe('user:bob')
    expect(await ask({ iss: MAIL })).toMatchObject({ error: 'invalid_grant' })
  })

  it('grants the scopes that the assertion, the issuer and the client all allow if the request names none', async () => {
    expect((await ask({ scope: 'check-status place-orders' })).scope).toBe('check-status')
    expect((await ask({ scope: 'place-orders' })).scope).toBe('')
    const askGlobex = async (fields: Record<string, string>, client = server.client) => {
      const assertion = await signBy(server.issuers.globex, claimsFrom(server, GLOBEX))
      return (await sendAssertion(server.oauth, client, assertion, fields)).scope
    }
    const limited = await newCaller(server, { scopes: ['place-orders'] })
    expect((await ask({}, {}, limited)).scope).toBe('')
    expect(await askGlobex({}, limited)).toBe('place-orders')
    expect(await askGlobex({})).toBe('check-status place-orders')
    expect(await askGlobex({ resource: REPORTS })).toBe('check-status')
    expect(await askGlobex({ scope: 'place-orders' })).toBe('place-orders')
  })

  it('issues a token for the resource named in the assertion or in the request', async () => {
    const audienceOf = async (claims: object, fields = {}) =>
      decodeJwt((await ask({ ...claims }, fields)).access_token).aud
    expect(await audienceOf({})).toBe(server.url)
    expect(await audienceOf({ resource: ORDERS })).toBe(ORDERS)
    expect(await audienceOf({ resource: [ORDERS, server.url] }, { resource: ORDERS })).toBe(ORDERS)
    expect(await audienceOf({}, { resource: ORDERS })).toBe(ORDERS)
  })

  it.each([
    ['the type JWT', { typ: 'JWT' }],
    ['the type authorization-grant+jwt', { typ: 'application/authorization-grant+jwt' }],
    ['no typ', {}],
  ])('accepts an assertion with %s', async (_name, header) => {
    const assertion = await assertionFor(server, {}, header)
    expect((await sendAssertion(server.oauth, server.client, assertion)).status).toBe(200)
  })

  it('accepts an assertion whose aud is a list with one member', async () => {
    expect((await ask({ aud: [server.url] })).status).toBe(200)
  })

  it('accepts an assertion again after a failed request, because only an issued token uses it up', async () => {
    const assertion = await assertionFor(server)
    const wider = await sendAssertion(server.oauth, server.client, assertion, {
      scope: 'place-orders',
    })
    expect(wider).toMatchObject({ status: 400, error: 'invalid_scope' })
    expect((await sendAssertion(server.oauth, server.client, assertion)).status).toBe(200)
  })
})

describe('an Identity Assertion JWT Authorization Grant', () => {
  it('is exchanged for a token with the user and the resource that it names', async () => {
    const assertion = await idJagFor(server, { resource: ORDERS, scope: 'check-status' })
    const reply = await sendAssertion(server.oauth, server.client, assertion)
    expect(reply).toMatchObject({ status: 200, scope: 'check-status' })
    expect(decodeJwt(reply.access_token)).toMatchObject({ sub: 'user:ada', aud: ORDERS })
  })

  it('is announced in the metadata, without the names of the trusted issuers', async () => {
    const reply = await server.request('/.well-known/oauth-authorization-server')
    const text = await reply.text()
    expect(JSON.parse(text)).toMatchObject({
      authorization_grant_profiles_supported: ['urn:ietf:params:oauth:grant-profile:id-jag'],
      grant_types_supported: expect.arrayContaining([
        'urn:ietf:params:oauth:grant-type:jwt-bearer',
      ]),
    })
    expect(text).not.toContain('enterprise.example')
  })
})

describe('a workload', () => {
  it('gets a token for its client by presenting only the token of its platform', async () => {
    const subject = 'repo:acme/site:ref:refs/heads/main'
    const client = await newWorkload(server, subject)
    const assertion = await signBy(server.issuers.ci, claimsFrom(server, CI, { sub: subject }))
    const reply = await sendAssertion(server.oauth, client, assertion)
    expect(reply).toMatchObject({ status: 200, scope: 'check-status' })
    expect(decodeJwt(reply.access_token)).toMatchObject({
      sub: `client:${client.id}`,
      client_id: client.id,
    })
    expect(await sendAssertion(server.oauth, client, assertion)).toMatchObject({
      error: 'invalid_grant',
    })
  })

  it("may present a platform token without jti repeatedly until it expires, if the issuer's settings allow it", async () => {
    const subject = 'system:serviceaccount:shop:worker'
    const client = await newWorkload(server, subject)
    const claims = claimsFrom(server, CLUSTER, { sub: subject, jti: undefined })
    const assertion = await signBy(server.issuers.cluster, claims)
    for (let i = 0; i < 2; i += 1) {
      expect((await sendAssertion(server.oauth, client, assertion)).status).toBe(200)
    }
  })
})

describe('a server that trusts an assertion issuer', () => {
  const startWith = (name: string) =>
    startAssertions({}, (issuers) => issuers.filter(({ issuer }) => issuer === name))

  it('rejects public clients, and announces no profile in the metadata, if the assertions name users', async () => {
    const plain = await startWith(ACME)
    const client = await newCaller(plain, { confidential: false })
    expect(await sendAssertion(plain.oauth, client, 'unread')).toMatchObject({
      error: 'unauthorized_client',
    })
    const reply = await plain.request('/.well-known/oauth-authorization-server')
    expect(await reply.json()).not.toHaveProperty('authorization_grant_profiles_supported')
    await plain.close()
  })

  it('accepts public clients if the assertions name workloads', async () => {
    const only = await startWith(CI)
    const client = await newWorkload(only, 'a job')
    const assertion = await signBy(only.issuers.ci, claimsFrom(only, CI, { sub: 'a job' }))
    expect((await sendAssertion(only.oauth, client, assertion)).status).toBe(200)
    await only.close()
  })
})

describe('options of jwtBearer()', () => {
  const jwks = async () => ({ keys: [(await createSigner('ES256')).jwk] })
  const good = async (): Promise<TrustedIssuer> => ({
    issuer: ACME,
    jwks: await jwks(),
    scopes: ['check-status'],
    userOf: {},
  })

  it.each<[string, Partial<Record<keyof TrustedIssuer, unknown>>, RegExp]>([
    ['no issuer', { issuer: '' }, /'issuer'/],
    ['no keys', { jwks: undefined }, /either jwksUri or jwks/],
    [
      'both jwks and jwksUri',
      { jwksUri: 'https://idp.acme.example/keys' },
      /either jwksUri or jwks/,
    ],
    ['a plain http jwksUri', { jwks: undefined, jwksUri: 'http://idp.acme.example/keys' }, /https/],
    ['private keys', { jwks: { keys: [{ kty: 'EC', d: 'x' }] } }, /public keys only/],
    ['a shared secret', { jwks: { keys: [{ kty: 'oct', k: 'x' }] } }, /public keys only/],
    ['a shared-secret algorithm', { algorithms: ['HS256'] }, /algorithms must be/],
    ['no algorithm', { algorithms: [] }, /algorithms must be/],
    ['no scopes', { scopes: undefined }, /scopes must list/],
    [
      'neither users nor clients',
      { userOf: undefined },
      /userOf or userByEmail .* or clientOf .* not both/,
    ],
    [
      'both users and clients',
      { clientOf: {} },
      /userOf or userByEmail .* or clientOf .* not both/,
    ],
    ['userByEmail without domains', { userByEmail: () => 'ada' }, /emailDomains/],
    ['domains without userByEmail', { emailDomains: ['acme.example'] }, /must be given together/],
    ['reusable assertions about users', { reusable: true }, /only allowed with clientOf/],
    ['an unknown profile', { profile: 'saml' }, /'id-jag'/],
    ['an empty audience', { audience: [] }, /audience is empty/],
    ['assertions that live for a day', { assertionsExpireIn: '1d' }, /an hour at most/],
  ])('are rejected if they have %s', async (_name, changes, message) => {
    const issuer = { ...(await good()), ...changes } as TrustedIssuer
    expect(() => jwtBearer({ issuers: [issuer] })).toThrow(message)
  })

  it('are rejected if no issuer is listed, or one is listed twice', async () => {
    const issuer = await good()
    expect(() => jwtBearer({ issuers: [issuer, issuer] })).toThrow(/twice/)
    expect(() => jwtBearer({ issuers: [] })).toThrow(/empty/)
  })

  it.each([
    ['a scope that is not defined', { scopes: ['unknown'] }, /'unknown' is not defined/],
    ['an identity scope', { scopes: ['email'] }, /only for users who sign in to this server/],
    ['this server as an issuer', { issuer: 'http://localhost:4999' }, /its own issuers/],
  ])('are rejected at start-up if they have %s', async (_name, changes, message) => {
    const options = {
      issuer: 'http://localhost:4999',
      secret: SECRET,
      storage: memoryStorage(),
      users: { findById: () => null },
      scopes: SCOPES,
      grants: [jwtBearer({ issuers: [{ ...(await good()), ...changes }] })],
      features: [openid()],
    }
    expect(() => createAuthorizationServer(options)).toThrow(message)
  })
})

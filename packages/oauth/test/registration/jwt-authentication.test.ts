import { createHmac } from 'node:crypto'
import { exportSPKI, importJWK } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { jwtClientAuthentication } from '../../src/index.ts'
import { createClient, REDIRECT, startServer, type TestServer } from '../support.ts'
import { assertingClients, headerOf, REFUSED, startAsserting } from './asserting-clients.ts'
import { ASSERTION_TYPE, assertionClaims, callWith, createSigner, sign } from './support.ts'

let server: TestServer
beforeAll(async () => {
  server = await startAsserting()
})
afterAll(() => server.close())

const { newClient, clientWithKey, proofOf, problemWith } = assertingClients(() => server)

describe('authentication with private_key_jwt', () => {
  it.each(['RS256', 'PS256', 'ES256', 'Ed25519'])(
    'succeeds at the token endpoint with the algorithm %s',
    async (alg) => {
      const client = await clientWithKey(alg)
      expect((await callWith(server, await proofOf(client))).status).toBe(200)
    },
  )

  it('is for clients without a secret, for which rotateSecret() creates no secret', async () => {
    const signer = await createSigner('ES256')
    const created = await server.oauth.clients.create({
      name: 'Keys',
      redirect: REDIRECT,
      settings: { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [signer.jwk] } },
    })
    expect(created.secret).toBe(null)
    expect(created.client.secretHash).toBe(null)
    await expect(server.oauth.clients.rotateSecret(created.client.id)).rejects.toThrow('a key')
  })

  it.each([
    ['the issuer', () => server.url],
    ['the token endpoint', () => `${server.url}/oauth/token`],
    ['both', () => [server.url, `${server.url}/oauth/token`]],
  ])('accepts an assertion with %s as audience', async (_what, aud) => {
    const client = await clientWithKey()
    expect((await callWith(server, await proofOf(client, { aud: aud() }))).status).toBe(200)
  })

  it('succeeds for pushed requests, which do not store the assertion', async () => {
    const client = await clientWithKey()
    const reply = await server.post('/oauth/par', {
      client_assertion_type: ASSERTION_TYPE,
      client_assertion: await proofOf(client, { aud: `${server.url}/oauth/par` }),
      client_id: client.id,
      response_type: 'code',
      redirect_uri: REDIRECT,
    })
    expect(reply.status).toBe(201)
    const tickets = await server.database.kysely.selectFrom('oauth_tickets').selectAll().execute()
    expect(JSON.stringify(tickets)).not.toContain('client_assertion')
  })

  it.each([
    ['no aud', { aud: undefined }],
    ['another audience', { aud: 'https://other.example' }],
    [
      'this server and another audience',
      { aud: ['http://localhost:4999', 'https://other.example'] },
    ],
    [
      'an audience that begins like this server',
      { aud: 'http://localhost:4999.evil.example/oauth/' },
    ],
    ['an empty audience list', { aud: [] }],
    ['a path with dot segments', { aud: 'http://localhost:4999/oauth/token/../x' }],
    [
      'a path below /oauth that is no endpoint',
      { aud: 'http://localhost:4999/oauth/tenant/token' },
    ],
    ['the path above the endpoints', { aud: 'http://localhost:4999/oauth/' }],
    ['an audience that is no string', { aud: 5 }],
    ['audiences that are no strings', { aud: [5, { name: 'http://localhost:4999' }] }],
    ['a nested list as audience', { aud: [['http://localhost:4999']] }],
    ['no exp', { exp: undefined }],
    ['an exp that has passed', { exp: 1_500_000_000 }],
    ['an exp a day ahead', { exp: Date.parse('2026-01-02T00:00:00Z') / 1000 }],
    ['an nbf in the future', { nbf: Date.parse('2026-01-01T00:05:00Z') / 1000 }],
    ['an iat in the future', { iat: Date.parse('2026-01-01T00:05:00Z') / 1000 }],
    ['no jti', { jti: undefined }],
    ['an empty jti', { jti: '' }],
    ['a jti that is no string', { jti: 7 }],
    ['no iss', { iss: undefined }],
    ['no sub', { sub: undefined }],
    ['another iss', { iss: 'somebody' }],
    ['another sub', { sub: 'somebody' }],
  ])('rejects an assertion with %s', async (_what, changes) => {
    const client = await clientWithKey()
    expect(await problemWith(await proofOf(client, changes))).toMatchObject(REFUSED)
  })

  it.each([
    ['an hour', 200, {}, 3600],
    ['an hour, signed by a clock one minute ahead,', 200, {}, 3660],
    ['more than an hour and a minute', 401, {}, 3662],
    ['ten minutes if the server allows ten', 200, { assertionsExpireIn: '10m' }, 600],
    ['an hour if the server allows ten minutes', 401, { assertionsExpireIn: '10m' }, 3600],
  ])(
    'depends on the lifetime of the assertion: %s gets the status %i',
    async (_what, status, options, seconds) => {
      const limited = await startServer({ features: [jwtClientAuthentication(options)] })
      try {
        const clients = assertingClients(() => limited)
        const now = Math.floor(limited.clock.now().getTime() / 1000)
        const client = await clients.clientWithKey()
        const proof = await clients.proofOf(client, { iat: now, exp: now + seconds })
        expect((await callWith(limited, proof)).status).toBe(status)
      } finally {
        await limited.close()
      }
    },
  )

  it('fails if the same assertion is used twice, in any process (threat S2)', async () => {
    const client = await clientWithKey()
    const other = server.another()
    const proof = await proofOf(client)
    expect((await callWith(server, proof)).status).toBe(200)
    expect(await problemWith(proof)).toMatchObject({
      ...REFUSED,
      error_description: expect.stringMatching(/before/),
    })
    const elsewhere = await other.fetch(
      new Request(`${server.url}/oauth/token`, {
        method: 'POST',
        body: new URLSearchParams({
          grant_type: 'client_credentials',
          client_assertion_type: ASSERTION_TYPE,
          client_assertion: proof,
        }),
      }),
    )
    expect(elsewhere.status).toBe(401)
  })

  it('succeeds only once for concurrent uses of the same assertion (threat S2)', async () => {
    const client = await clientWithKey()
    const proof = await proofOf(client)
    const replies = await Promise.all(Array.from({ length: 8 }, () => callWith(server, proof)))
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1)
  })

  it('succeeds with a jti that another client has also used', async () => {
    const [one, two] = [await clientWithKey(), await clientWithKey()]
    for (const client of [one, two]) {
      expect((await callWith(server, await proofOf(client, { jti: 'same' }))).status).toBe(200)
    }
  })

  it("fails if another client's key has signed the assertion", async () => {
    const [one, two] = [await clientWithKey(), await clientWithKey()]
    const forged = await proofOf({ id: one.id, signer: two.signer })
    expect(await problemWith(forged)).toMatchObject(REFUSED)
  })

  it('fails together with another client_id, a client secret, or a Basic header', async () => {
    const client = await clientWithKey()
    expect(await problemWith(await proofOf(client), { client_id: 'other' })).toMatchObject(REFUSED)
    const beside = await problemWith(await proofOf(client), { client_secret: 'x' })
    expect(beside).toMatchObject({ status: 400, error: 'invalid_request' })
    const basic = await server.post(
      '/oauth/token',
      {
        grant_type: 'client_credentials',
        client_assertion_type: ASSERTION_TYPE,
        client_assertion: await proofOf(client),
      },
      { authorization: `Basic ${btoa(`${client.id}:x`)}` },
    )
    expect(basic.status).toBe(400)
  })

  it('fails for an assertion with another typ', async () => {
    const client = await clientWithKey()
    for (const typ of ['at+jwt', 'oauth-authz-req+jwt', 'dpop+jwt', 'logout+jwt']) {
      expect(await problemWith(await proofOf(client, {}, { typ }))).toMatchObject(REFUSED)
    }
    const own = await proofOf(client, {}, { typ: 'client-authentication+jwt' })
    expect((await callWith(server, own)).status).toBe(200)
  })

  it.each<[string, string?]>([
    ['no text', ''],
    ['a'],
    ['a.b'],
    ['a.b.c'],
    ['{}'],
    ['e30.e30.'],
    ['20,000 characters', `${'a'.repeat(20_000)}.b.c`],
  ])('fails for a text that is not a JWT: %s', async (what, text = what) => {
    const reply = await callWith(server, text)
    expect([400, 401]).toContain(reply.status)
    expect(server.logged).toEqual([])
  })

  it('fails with another client_assertion_type, or without client_assertion', async () => {
    const { id } = await createClient(server, { confidential: false })
    for (const form of [
      { client_assertion_type: ASSERTION_TYPE },
      { client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:saml2-bearer' },
      { client_assertion: 'e30.e30.' },
    ]) {
      const reply = await server.post('/oauth/revoke', { client_id: id, token: 'x', ...form })
      expect(reply.status).toBe(401)
    }
  })
})

describe('algorithms of client assertions (threat S2)', () => {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')

  it('a public key cannot be used as a shared secret', async () => {
    const client = await clientWithKey('RS256')
    const { jwk } = client.signer
    const pem = await exportSPKI((await importJWK({ ...jwk }, 'RS256')) as CryptoKey)
    for (const secret of [pem, pem.trim(), JSON.stringify(jwk), String(jwk.n)]) {
      const claims = assertionClaims(server, client.id)
      const content = `${encode({ alg: 'HS256', kid: 'key' })}.${encode(claims)}`
      const mac = createHmac('sha256', secret).update(content).digest('base64url')
      expect(await problemWith(`${content}.${mac}`)).toMatchObject(REFUSED)
    }
  })

  it.each(['none', 'None', 'NONE', ''])(
    'an assertion with the alg %s is refused as unsigned',
    async (alg) => {
      const client = await clientWithKey()
      const content = `${encode({ alg })}.${encode(assertionClaims(server, client.id))}`
      for (const signature of ['', 'AAAA']) {
        expect(await problemWith(`${content}.${signature}`)).toMatchObject(REFUSED)
      }
    },
  )

  it("an algorithm other than the one in the client's settings is refused", async () => {
    const client = await clientWithKey('RS256', { token_endpoint_auth_signing_alg: 'PS256' })
    expect(await problemWith(await proofOf(client))).toMatchObject(REFUSED)
  })

  it('an algorithm that the server does not list is refused', async () => {
    const features = [jwtClientAuthentication({ algorithms: ['ES256'] })]
    const strict = await startServer({ features })
    try {
      const signer = await createSigner('RS256')
      const settings = {
        token_endpoint_auth_method: 'private_key_jwt',
        jwks: { keys: [signer.jwk] },
      } as const
      const { id } = await createClient(strict, { grants: ['client_credentials'], settings })
      const proof = await sign(assertionClaims(strict, id), signer.privateKey, headerOf(signer))
      expect((await callWith(strict, proof)).status).toBe(401)
    } finally {
      await strict.close()
    }
  })

  it('an unreadable key makes the server refuse the client, and causes no internal error', async () => {
    const { signer } = await clientWithKey('RS256')
    const { id } = await newClient({
      token_endpoint_auth_method: 'private_key_jwt',
      jwks: { keys: [{ kty: 'RSA', n: 'AQAB', e: 'AQAB', kid: 'key' }] },
    })
    expect(await problemWith(await proofOf({ id, signer }))).toMatchObject(REFUSED)
    expect(server.logged).toEqual([])
  })
})

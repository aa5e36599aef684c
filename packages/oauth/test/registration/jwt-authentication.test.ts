import { createHmac } from 'node:crypto'
import { exportSPKI, importJWK } from 'jose'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type ClientSettings, jwtClientAuthentication, pushedRequests } from '../../src/index.ts'
import { createClient, REDIRECT, SECRET, startServer, type TestServer } from '../support.ts'
import {
  ASSERTION_TYPE,
  assertionClaims,
  callWith,
  createSigner,
  outgoing,
  type Signer,
  sign,
  startWebServer,
  type WebServer,
} from './support.ts'

const GRANTS = ['client_credentials', 'authorization_code'] as const

let server: TestServer
beforeAll(async () => {
  const features = [jwtClientAuthentication({ sharedSecrets: true }), pushedRequests()]
  server = await startServer({ features, outgoing: outgoing() })
})
afterAll(() => server.close())

const newClient = (settings: ClientSettings) =>
  createClient(server, { grants: [...GRANTS], settings })

async function clientWithKey(algorithm = 'ES256', settings: ClientSettings = {}) {
  const signer = await createSigner(algorithm)
  const { id } = await newClient({
    token_endpoint_auth_method: 'private_key_jwt',
    jwks: { keys: [signer.jwk] },
    ...settings,
  })
  return { id, signer }
}

const headerOf = ({ algorithm }: Signer) => ({ alg: algorithm, kid: 'key' })

function proofOf(
  { id, signer }: { readonly id: string; readonly signer: Signer },
  changes: Record<string, unknown> = {},
  header: Record<string, unknown> = {},
): Promise<string> {
  const claims = { ...assertionClaims(server, id), ...changes }
  return sign(claims, signer.privateKey, { ...headerOf(signer), ...header })
}

async function problemWith(assertion: string, beside: Record<string, string> = {}) {
  const reply = await callWith(server, assertion, beside)
  return { status: reply.status, ...((await reply.json()) as { error?: string }) }
}

const REFUSED = { status: 401, error: 'invalid_client' }

describe('private_key_jwt', () => {
  it.each(['RS256', 'PS256', 'ES256', 'Ed25519'])(
    'opens the token endpoint with %s',
    async (alg) => {
      const client = await clientWithKey(alg)
      expect((await callWith(server, await proofOf(client))).status).toBe(200)
    },
  )

  it('has no secret, and gets none', async () => {
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
  ])('is meant for %s', async (_what, aud) => {
    const client = await clientWithKey()
    expect((await callWith(server, await proofOf(client, { aud: aud() }))).status).toBe(200)
  })

  it('works where requests are pushed, and is not stored with them', async () => {
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
    ['ours and another audience', { aud: ['http://localhost:4999', 'https://other.example'] }],
    ['an audience that begins like ours', { aud: 'http://localhost:4999.evil.example/oauth/' }],
    ['no audience in its list', { aud: [] }],
    ['an address below ours that is none', { aud: 'http://localhost:4999/oauth/token/../x' }],
    ['an address that our own begins', { aud: 'http://localhost:4999/oauth/tenant/token' }],
    ['the folder of our addresses', { aud: 'http://localhost:4999/oauth/' }],
    ['an audience that is no text', { aud: 5 }],
    ['audiences that are no texts', { aud: [5, { name: 'http://localhost:4999' }] }],
    ['a list in a list as its audience', { aud: [['http://localhost:4999']] }],
    ['no exp', { exp: undefined }],
    ['an exp that has passed', { exp: 1_500_000_000 }],
    ['an exp in a day', { exp: Date.parse('2026-01-02T00:00:00Z') / 1000 }],
    ['an nbf in the future', { nbf: Date.parse('2026-01-01T00:05:00Z') / 1000 }],
    ['an iat in the future', { iat: Date.parse('2026-01-01T00:05:00Z') / 1000 }],
    ['no jti', { jti: undefined }],
    ['an empty jti', { jti: '' }],
    ['a jti that is no text', { jti: 7 }],
    ['no iss', { iss: undefined }],
    ['no sub', { sub: undefined }],
    ['another iss', { iss: 'somebody' }],
    ['another sub', { sub: 'somebody' }],
  ])('is refused with %s', async (_what, changes) => {
    const client = await clientWithKey()
    expect(await problemWith(await proofOf(client, changes))).toMatchObject(REFUSED)
  })

  it('threat S2 is refused the second time, by every process', async () => {
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

  it('threat S2 is taken once of many at the same moment', async () => {
    const client = await clientWithKey()
    const proof = await proofOf(client)
    const replies = await Promise.all(Array.from({ length: 8 }, () => callWith(server, proof)))
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1)
  })

  it('does not use up the jti of another client', async () => {
    const [one, two] = [await clientWithKey(), await clientWithKey()]
    for (const client of [one, two]) {
      expect((await callWith(server, await proofOf(client, { jti: 'same' }))).status).toBe(200)
    }
  })

  it("is refused when signed by another client's key", async () => {
    const [one, two] = [await clientWithKey(), await clientWithKey()]
    const forged = await proofOf({ id: one.id, signer: two.signer })
    expect(await problemWith(forged)).toMatchObject(REFUSED)
  })

  it('is refused beside the name of another client, a secret, or Basic', async () => {
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

  it('is refused with the typ of something else', async () => {
    const client = await clientWithKey()
    for (const typ of ['at+jwt', 'oauth-authz-req+jwt', 'dpop+jwt', 'logout+jwt']) {
      expect(await problemWith(await proofOf(client, {}, { typ }))).toMatchObject(REFUSED)
    }
    const own = await proofOf(client, {}, { typ: 'client-authentication+jwt' })
    expect((await callWith(server, own)).status).toBe(200)
  })

  it.each(['', 'a', 'a.b', 'a.b.c', '{}', 'e30.e30.', `${'a'.repeat(20_000)}.b.c`])(
    'is refused when it is no JWT: %.20s',
    async (text) => {
      const reply = await callWith(server, text)
      expect([400, 401]).toContain(reply.status)
      expect(server.logged).toEqual([])
    },
  )

  it('leaves nobody in who only names a type, or another one', async () => {
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

describe('threat S2 algorithms', () => {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')

  it('a public key is no shared secret', async () => {
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

  it.each(['none', 'None', 'NONE', ''])('alg %s signs nothing', async (alg) => {
    const client = await clientWithKey()
    const content = `${encode({ alg })}.${encode(assertionClaims(server, client.id))}`
    for (const signature of ['', 'AAAA']) {
      expect(await problemWith(`${content}.${signature}`)).toMatchObject(REFUSED)
    }
  })

  it('one that the client has not agreed to is refused', async () => {
    const client = await clientWithKey('RS256', { token_endpoint_auth_signing_alg: 'PS256' })
    expect(await problemWith(await proofOf(client))).toMatchObject(REFUSED)
  })

  it('one that the server does not list is refused', async () => {
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

  it('a key that cannot be read is a refusal, and no failure of ours', async () => {
    const { signer } = await clientWithKey('RS256')
    const { id } = await newClient({
      token_endpoint_auth_method: 'private_key_jwt',
      jwks: { keys: [{ kty: 'RSA', n: 'AQAB', e: 'AQAB', kid: 'key' }] },
    })
    expect(await problemWith(await proofOf({ id, signer }))).toMatchObject(REFUSED)
    expect(server.logged).toEqual([])
  })
})

describe('client_secret_jwt', () => {
  const HS256 = { alg: 'HS256' }
  const newSharing = () => newClient({ token_endpoint_auth_method: 'client_secret_jwt' })
  const bytes = (text: string) => new TextEncoder().encode(text)

  it('proves the secret without sending it', async () => {
    const { id, secret } = await newSharing()
    const proof = await sign(assertionClaims(server, id), bytes(secret), HS256)
    expect((await callWith(server, proof)).status).toBe(200)
    expect(await problemWith(proof)).toMatchObject(REFUSED)
  })

  it('is refused with another secret, and after a rotation', async () => {
    const { id, secret } = await newSharing()
    const wrong = await sign(assertionClaims(server, id), bytes(`${secret}x`), HS256)
    expect(await problemWith(wrong)).toMatchObject(REFUSED)
    const rotated = await server.oauth.clients.rotateSecret(id)
    const old = await sign(assertionClaims(server, id), bytes(secret), HS256)
    expect(await problemWith(old)).toMatchObject(REFUSED)
    const now = await sign(assertionClaims(server, id), bytes(rotated.secret ?? ''), HS256)
    expect((await callWith(server, now)).status).toBe(200)
  })

  it('stores the secret sealed, for those clients alone', async () => {
    const { id, secret } = await newSharing()
    const sharing = await server.oauth.clients.find(id)
    expect(sharing?.settings.sealed_secret).toMatch(/^[\w-]+\.\.[\w-]+\.[\w-]+\.[\w-]+$/)
    expect(JSON.stringify(sharing)).not.toContain(secret)
    const plain = await server.oauth.clients.find((await createClient(server)).id)
    expect(plain?.settings).toEqual({})
  })

  it('goes on after the secret of the server has changed', async () => {
    const own = await startServer({ features: [jwtClientAuthentication({ sharedSecrets: true })] })
    try {
      const { id, secret } = await createClient(own, {
        grants: [...GRANTS],
        settings: { token_endpoint_auth_method: 'client_secret_jwt' },
      })
      const next = 'another secret of more than thirty-two characters'
      const both = own.another({ secret: [next, SECRET] })
      expect(await both.keys.toReseal()).toBeGreaterThan(0)
      await both.keys.reseal()
      expect(await both.keys.toReseal()).toBe(0)
      const after = own.another({ secret: next })
      const proof = await sign(assertionClaims(own, id), bytes(secret), HS256)
      const body = new URLSearchParams({
        grant_type: 'client_credentials',
        client_assertion_type: ASSERTION_TYPE,
        client_assertion: proof,
      })
      const request = new Request(`${own.url}/oauth/token`, { method: 'POST', body })
      expect((await after.fetch(request)).status).toBe(200)
    } finally {
      await own.close()
    }
  })
})

describe('token_endpoint_auth_method', () => {
  const ask = (form: Record<string, string>, headers: Record<string, string> = {}) =>
    server.post('/oauth/token', { grant_type: 'client_credentials', ...form }, headers)
  const basic = ({ id, secret }: { id: string; secret: string }) => ({
    authorization: `Basic ${btoa(`${id}:${secret}`)}`,
  })
  const body = ({ id, secret }: { id: string; secret: string }) => ({
    client_id: id,
    client_secret: secret,
  })

  it.each([
    ['client_secret_basic', 200, 401],
    ['client_secret_post', 401, 200],
    ['client_secret_jwt', 401, 401],
    [undefined, 200, 200],
  ] as const)('%s: Basic is answered with %i, the body with %i', async (method, first, second) => {
    const client = await newClient(method ? { token_endpoint_auth_method: method } : {})
    expect((await ask({}, basic(client))).status).toBe(first)
    expect((await ask(body(client))).status).toBe(second)
  })

  it('a client with a key is not let in by its name', async () => {
    const { id } = await clientWithKey()
    expect((await ask({ client_id: id })).status).toBe(401)
    expect((await ask({ client_id: id, client_secret: '' })).status).toBe(401)
  })

  it('one who uses a secret is not let in by a JWT', async () => {
    const signer = await createSigner('ES256')
    const { id } = await newClient({ jwks: { keys: [signer.jwk] } })
    expect(await problemWith(await proofOf({ id, signer }))).toMatchObject(REFUSED)
  })

  it.each([
    [{ token_endpoint_auth_method: 'private_key_jwt' }, /jwks/],
    [{ token_endpoint_auth_method: 'magic' }, /one of/],
    [{ jwks: { keys: [{ kty: 'RSA' }] }, jwks_uri: 'https://keys.example/' }, /exclude/],
    [{ jwks: [] }, /set of keys/],
    [{ jwks_uri: 'http://keys.example/' }, /https/],
    [{ logo_uri: 'javascript:alert(1)' }, /https/],
    [{ default_max_age: -1 }, /seconds/],
    [{ tokenEndpointAuthMethod: 'none' }, /not a setting/],
    [{ self_registered: { by: 'registration' } }, /not a setting/],
    [{ sealed_secret: 'x' }, /not a setting/],
  ])('clients.create refuses %j', async (settings, message) => {
    const creating = newClient(settings as ClientSettings)
    await expect(creating).rejects.toMatchObject({
      code: 'validation_failed',
      message: expect.stringMatching(message),
    })
  })

  it('none makes a client public', async () => {
    const settings = { token_endpoint_auth_method: 'none' } as const
    const { client } = await server.oauth.clients.create({
      name: 'A',
      redirect: REDIRECT,
      settings,
    })
    expect(client.confidential).toBe(false)
    const both = { name: 'A', redirect: REDIRECT, settings, confidential: true }
    await expect(server.oauth.clients.create(both)).rejects.toThrow('none is not for confidential')
  })
})

describe('jwks_uri', () => {
  let web: WebServer
  beforeEach(async () => {
    web = await startWebServer()
  })
  afterEach(() => web.close())

  const clientAt = (jwks_uri: string) =>
    newClient({ token_endpoint_auth_method: 'private_key_jwt', jwks_uri })

  it('is where the keys are fetched, once for many', async () => {
    const signer = await createSigner('ES256')
    web.answerJson({ keys: [signer.jwk] })
    const { id } = await clientAt(web.urlOf('/jwks', 'keys.example'))
    for (let i = 0; i < 3; i += 1) {
      expect((await callWith(server, await proofOf({ id, signer }))).status).toBe(200)
    }
    expect(web.asked).toHaveLength(1)
  })

  it('is asked again for a key that is new, and not for every forgery', async () => {
    const [old, next] = [await createSigner('ES256', 'old'), await createSigner('ES256', 'new')]
    web.answerJson({ keys: [old.jwk] })
    const { id } = await clientAt(web.urlOf('/rotating', 'keys.example'))
    const proof = async (signer: Signer, kid: string) => proofOf({ id, signer }, {}, { kid })
    expect((await callWith(server, await proof(old, 'old'))).status).toBe(200)
    web.answerJson({ keys: [next.jwk] })
    // Too soon: what is known counts.
    expect((await callWith(server, await proof(next, 'new'))).status).toBe(401)
    expect(web.asked).toHaveLength(1)
    server.clock.advance(31)
    expect((await callWith(server, await proof(next, 'new'))).status).toBe(200)
    expect((await callWith(server, await proof(old, 'old'))).status).toBe(401)
    expect(web.asked).toHaveLength(2)
  })

  it('is asked again for the keys of a client that came after they were fetched', async () => {
    const [old, next] = [await createSigner('ES256', 'old'), await createSigner('ES256', 'new')]
    const uri = web.urlOf('/handed-on', 'keys.example')
    web.answerJson({ keys: [old.jwk] })
    const first = await clientAt(uri)
    await callWith(server, await proofOf({ id: first.id, signer: old }, {}, { kid: 'old' }))
    web.answerJson({ keys: [next.jwk] })
    server.clock.advance(2)
    const second = await clientAt(uri)
    const proof = () => proofOf({ id: second.id, signer: next }, {}, { kid: 'new' })
    expect((await callWith(server, await proof())).status).toBe(200)
    const forged = await proofOf({ id: second.id, signer: old }, {}, { kid: 'old' })
    expect((await callWith(server, forged)).status).toBe(401)
    expect(web.asked).toHaveLength(2)
  })

  it.each([
    ['a server that fails', 500, '{}'],
    ['no key set', 200, '[]'],
    ['nothing', 200, ''],
    ['keys that are none', 200, '{"keys":{}}'],
  ])('with %s nobody is let in, and nothing of it is told', async (_what, status, text) => {
    web.answer((_request, response) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(text),
    )
    const signer = await createSigner('ES256')
    const { id } = await clientAt(web.urlOf(`/${status}/${text.length}`, 'keys.example'))
    const problem = await problemWith(await proofOf({ id, signer }))
    expect(problem).toMatchObject(REFUSED)
    expect(JSON.stringify(problem)).not.toContain('127.0.0.1')
    expect(server.logged).toEqual([])
  })
})

describe('off', () => {
  it('is not in the metadata, and an assertion is refused', async () => {
    const plain = await startServer()
    try {
      const metadata = await (await plain.request('/.well-known/oauth-authorization-server')).json()
      expect(metadata.token_endpoint_auth_methods_supported).toEqual([
        'client_secret_basic',
        'client_secret_post',
      ])
      expect(metadata).not.toHaveProperty('token_endpoint_auth_signing_alg_values_supported')
      const { id } = await createClient(plain, { confidential: false })
      const reply = await callWith(plain, 'e30.e30.', { client_id: id })
      expect(reply.status).toBe(401)
      const settings = { token_endpoint_auth_method: 'client_secret_jwt' } as const
      await expect(createClient(plain, { settings })).rejects.toThrow('is not offered')
    } finally {
      await plain.close()
    }
  })

  it('is in the metadata when it is on', async () => {
    const metadata = await (await server.request('/.well-known/oauth-authorization-server')).json()
    for (const endpoint of ['token', 'revocation', 'introspection']) {
      expect(metadata).toMatchObject({
        [`${endpoint}_endpoint_auth_methods_supported`]: [
          'client_secret_basic',
          'client_secret_post',
          'private_key_jwt',
          'client_secret_jwt',
        ],
        [`${endpoint}_endpoint_auth_signing_alg_values_supported`]: expect.arrayContaining([
          'RS256',
          'ES256',
          'HS256',
        ]),
      })
    }
  })

  it('says at start-up what cannot be', () => {
    expect(() => jwtClientAuthentication({ algorithms: [] })).toThrow('algorithms')
    expect(() => jwtClientAuthentication({ algorithms: ['HS256' as never] })).toThrow('algorithms')
    expect(() => jwtClientAuthentication({ assertionsExpireIn: '2h' })).toThrow('an hour')
  })
})

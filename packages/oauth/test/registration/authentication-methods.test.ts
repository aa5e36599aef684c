import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ClientSettings, jwtClientAuthentication } from '../../src/index.ts'
import { createClient, REDIRECT, startServer, type TestServer } from '../support.ts'
import { assertingClients, REFUSED, startAsserting } from './asserting-clients.ts'
import { callWith, createSigner } from './support.ts'

let server: TestServer
beforeAll(async () => {
  server = await startAsserting()
})
afterAll(() => server.close())

const { newClient, clientWithKey, proofOf, problemWith } = assertingClients(() => server)

describe('the client setting token_endpoint_auth_method', () => {
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
  ] as const)(
    'if it is %s, a secret in a Basic header gets the status %i, and a secret in the body %i',
    async (method, first, second) => {
      const client = await newClient(method ? { token_endpoint_auth_method: method } : {})
      expect((await ask({}, basic(client))).status).toBe(first)
      expect((await ask(body(client))).status).toBe(second)
    },
  )

  it('is enforced: a client with a key cannot authenticate by its client_id alone', async () => {
    const { id } = await clientWithKey()
    expect((await ask({ client_id: id })).status).toBe(401)
    expect((await ask({ client_id: id, client_secret: '' })).status).toBe(401)
  })

  it('is enforced: a client with a secret cannot authenticate by a JWT', async () => {
    const signer = await createSigner('ES256')
    const { id } = await newClient({ jwks: { keys: [signer.jwk] } })
    expect(await problemWith(await proofOf({ id, signer }))).toMatchObject(REFUSED)
  })

  it.each([
    [{ token_endpoint_auth_method: 'private_key_jwt' }, /jwks/],
    [{ token_endpoint_auth_method: 'magic' }, /one of/],
    [{ jwks: { keys: [{ kty: 'RSA' }] }, jwks_uri: 'https://keys.example/' }, /cannot be combined/],
    [{ jwks: [] }, /set of keys/],
    [{ jwks_uri: 'http://keys.example/' }, /https/],
    [{ logo_uri: 'javascript:alert(1)' }, /https/],
    [{ default_max_age: -1 }, /seconds/],
    [{ tokenEndpointAuthMethod: 'none' }, /not a client setting/],
    [{ self_registered: { by: 'registration' } }, /not a client setting/],
    [{ sealed_secret: 'x' }, /not a client setting/],
    [{ verified: true }, /not a client setting/],
  ])(
    'is validated by clients.create(), which rejects the settings %j',
    async (settings, message) => {
      const creating = newClient(settings as ClientSettings)
      await expect(creating).rejects.toMatchObject({
        code: 'validation_failed',
        message: expect.stringMatching(message),
      })
    },
  )

  it('makes a client public if its value is `none`', async () => {
    const settings = { token_endpoint_auth_method: 'none' } as const
    const { client } = await server.oauth.clients.create({
      name: 'A',
      redirect: REDIRECT,
      settings,
    })
    expect(client.confidential).toBe(false)
    const both = { name: 'A', redirect: REDIRECT, settings, confidential: true }
    await expect(server.oauth.clients.create(both)).rejects.toThrow(
      'none is not allowed for confidential',
    )
  })
})

describe('jwtClientAuthentication()', () => {
  it('adds nothing to the metadata if it is disabled, and client assertions are refused', async () => {
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
      await expect(createClient(plain, { settings })).rejects.toThrow(
        'is not supported by this server',
      )
    } finally {
      await plain.close()
    }
  })

  it('is announced in the metadata if it is enabled', async () => {
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

  it('rejects invalid options at start-up', () => {
    expect(() => jwtClientAuthentication({ algorithms: [] })).toThrow('algorithms')
    expect(() => jwtClientAuthentication({ algorithms: ['HS256' as never] })).toThrow('algorithms')
    expect(() => jwtClientAuthentication({ assertionsExpireIn: '2h' })).toThrow('an hour')
  })
})

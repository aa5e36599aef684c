import { describe, expect, it } from 'vitest'
import {
  authorizationCode,
  clientMetadataDocuments,
  clientRegistration,
  dpop,
  type Fapi2Options,
  fapi2,
  implicit,
  jwtClientAuthentication,
  memoryStorage,
  openid,
  password,
  pushedRequests,
  requestObjects,
  requirePkce,
  signedIntrospection,
} from '../../src/index.ts'
import { createSigner, sign } from '../registration/support.ts'
import {
  createClient,
  REDIRECT,
  requestAuthorization,
  startServer,
  type TestServerOptions,
} from '../support.ts'
import { GRANTS, newKeyClient, push, startFapi } from './support.ts'

const started = (changes: TestServerOptions) =>
  startServer({ storage: memoryStorage(), grants: GRANTS, features: [fapi2()], ...changes })

describe('fapi2() at start-up', () => {
  it.each<[string, TestServerOptions, string]>([
    ['password()', { grants: [...GRANTS, password()] }, 'remove password() from grants'],
    ['implicit()', { grants: [...GRANTS, implicit()] }, 'remove implicit() from grants'],
    ['dpop()', { features: [fapi2(), dpop()] }, 'remove dpop() from features'],
    ['pushedRequests()', { features: [pushedRequests(), fapi2()] }, 'remove pushedRequests() from'],
    [
      'jwtClientAuthentication()',
      { features: [fapi2(), jwtClientAuthentication({ required: true })] },
      'remove jwtClientAuthentication() from',
    ],
    ['requestObjects()', { features: [fapi2(), requestObjects()] }, 'remove requestObjects() from'],
    ['requirePkce()', { features: [fapi2(), requirePkce()] }, 'remove requirePkce() from'],
    [
      'response types with an ID token',
      {
        features: [fapi2(), openid({ idTokenAlgorithms: ['ES256'], responseTypes: ['id_token'] })],
      },
      "remove 'id_token' from responseTypes",
    ],
    ['ID tokens signed with RS256', { features: [fapi2(), openid()] }, 'openid() signs with RS256'],
    [
      'introspection signed with RS256',
      { features: [fapi2(), signedIntrospection()] },
      'signedIntrospection() signs with RS256',
    ],
    ['access tokens signed with RS256', { signingAlgorithm: 'RS256' }, 'signs with RS256'],
    [
      'an API whose tokens are signed with RS256',
      { resources: { 'https://api.example.com': { signingAlgorithm: 'RS256' } } },
      'signs with RS256',
    ],
  ])('rejects %s in the options, and names the fix', async (_what, changes, message) => {
    await expect(started(changes)).rejects.toThrow(`fapi2(): `)
    await expect(started(changes)).rejects.toThrow(message)
  })

  it.each<[string, Fapi2Options, string]>([
    [
      'pushed requests that live for ten minutes',
      { pushedRequests: { lifetime: '10m' } },
      'less than 600',
    ],
    [
      'assertions that live for two hours',
      { clientAssertions: { assertionsExpireIn: '2h' } },
      'an hour',
    ],
  ])('rejects %s', (_what, options, message) => {
    expect(() => fapi2(options)).toThrow(message)
  })

  it('accepts the options that the profile allows', async () => {
    const server = await started({
      features: [
        fapi2({
          dpop: { nonces: true, guardReplays: 'process', apiUrls: ['https://api.example.com'] },
          pushedRequests: { lifetime: 599 },
          clientAssertions: { assertionsExpireIn: '5m' },
          requestObjects: true,
        }),
        openid({ idTokenAlgorithms: ['EdDSA', 'ES256'] }),
      ],
    })
    await server.close()
  })
})

describe('the server metadata with fapi2()', () => {
  it('lists everything that the FAPI 2.0 profile requires, and nothing that it forbids', async () => {
    const features = [
      fapi2({ requestObjects: true }),
      openid({ idTokenAlgorithms: ['ES256'] }),
      signedIntrospection({ algorithms: ['ES256'] }),
    ]
    const server = await startServer({ grants: GRANTS, features })
    try {
      const document = await (await server.request('/.well-known/openid-configuration')).json()
      const algorithms = ['PS256', 'ES256', 'Ed25519', 'EdDSA']
      expect(document).toMatchObject({
        require_pushed_authorization_requests: true,
        authorization_response_iss_parameter_supported: true,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
        grant_types_supported: ['authorization_code', 'refresh_token', 'client_credentials'],
        dpop_signing_alg_values_supported: algorithms,
        request_object_signing_alg_values_supported: algorithms,
        id_token_signing_alg_values_supported: ['ES256'],
      })
      for (const endpoint of ['token', 'revocation', 'introspection']) {
        expect(document).toMatchObject({
          [`${endpoint}_endpoint_auth_methods_supported`]: ['private_key_jwt'],
          [`${endpoint}_endpoint_auth_signing_alg_values_supported`]: algorithms,
        })
      }
      expect(JSON.stringify(document)).not.toContain('RS256')
    } finally {
      await server.close()
    }
  })
})

describe('self-registration with fapi2()', () => {
  const metadata = { redirect_uris: [REDIRECT], scope: 'place-orders' }
  it('accepts only clients that authenticate with a key', async () => {
    const server = await startFapi(
      {},
      {
        features: [fapi2(), clientRegistration({ policy: 'open' }), clientMetadataDocuments()],
        selfRegistered: { scopes: ['place-orders'] },
      },
    )
    try {
      const register = async (more: object) => {
        const reply = await server.request('/oauth/register', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ ...metadata, ...more }),
        })
        return [reply.status, (await reply.json()).error]
      }
      const { jwk } = await createSigner('ES256')
      const token_endpoint_auth_method = 'private_key_jwt'
      const withKey = { token_endpoint_auth_method, jwks: { keys: [jwk] } }
      expect(await register(withKey)).toEqual([201, undefined])
      const refused = [400, 'invalid_client_metadata']
      expect(await register({})).toEqual(refused)
      for (const name of [
        'none',
        'client_secret_basic',
        'client_secret_post',
        'client_secret_jwt',
      ]) {
        expect(await register({ token_endpoint_auth_method: name })).toEqual(refused)
      }
      const rs256 = { ...withKey, token_endpoint_auth_signing_alg: 'RS256' }
      expect(await register(rs256)).toEqual(refused)
    } finally {
      await server.close()
    }
  })
})

describe('management routes with fapi2()', () => {
  it('respond with 422 when people register an application, because the application would get a secret', async () => {
    const server = await startFapi()
    try {
      const body = { name: 'Shop', redirect: REDIRECT }
      const reply = await server.json('ada', 'POST', '/oauth/clients', body)
      expect(reply.status).toBe(422)
      expect(JSON.stringify(await reply.json())).toContain('private_key_jwt')
      expect(await server.oauth.clients.listByUser('ada')).toEqual([])
    } finally {
      await server.close()
    }
  })
})

describe('fapi2({ requestObjects: true })', () => {
  it.each([
    ['ES256', 201],
    ['PS256', 201],
    ['RS256', 400],
    ['none', 400],
  ])('answers a request object signed with %s with the status %i', async (alg, status) => {
    const server = await startFapi({ requestObjects: true })
    try {
      const settings = { request_object_signing_alg: alg }
      const client = await newKeyClient(server, alg === 'none' ? 'ES256' : alg)
      await server.database.kysely
        .updateTable('oauth_clients')
        .set({
          settings: JSON.stringify({
            token_endpoint_auth_method: 'private_key_jwt',
            jwks: { keys: [client.signer.jwk, assertionKey.jwk] },
            ...settings,
          }),
        })
        .where('id', '=', client.id)
        .execute()
      const claims = {
        iss: client.id,
        aud: server.url,
        client_id: client.id,
        response_type: 'code',
        redirect_uri: REDIRECT,
        scope: 'place-orders',
        code_challenge: '03BnmsCFjxiiew8w92e0eHJAmcREwx-U10__1usYD2Y',
        code_challenge_method: 'S256',
      }
      const request =
        alg === 'none'
          ? `${encode({ alg: 'none' })}.${encode(claims)}.`
          : await sign(claims, client.signer.privateKey, { alg, kid: 'key' })
      const reply = await push(server, client, { params: { request }, signer: assertionKey })
      expect(reply.status).toBe(status)
    } finally {
      await server.close()
    }
  })
})

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
const assertionKey = await createSigner('ES256', 'assertions')

describe('the algorithms in openid({ idTokenAlgorithms }) and signedIntrospection({ algorithms })', () => {
  it('are rejected at start-up if one is unsupported or the default algorithm is missing', () => {
    const list = ['ES256'] as const
    expect(() => openid({ idTokenAlgorithm: 'EdDSA', idTokenAlgorithms: list })).toThrow("'EdDSA'")
    expect(() => openid({ idTokenAlgorithms: ['ES256', 'none' as never] })).toThrow(
      'may contain only',
    )
    expect(() => signedIntrospection({ algorithms: [] })).toThrow('may contain only')
    expect(() => signedIntrospection({ algorithm: 'RS256', algorithms: list })).toThrow("'RS256'")
  })
})

describe('requirePkce()', () => {
  it('refuses a request for a code without code_challenge, even from clients with a secret', async () => {
    const server = await startServer({
      grants: [authorizationCode(), implicit()],
      features: [requirePkce()],
    })
    try {
      const client = await createClient(server, { grants: ['authorization_code', 'implicit'] })
      const ask = (params: Record<string, string>) =>
        requestAuthorization(server, 'ada', {
          client_id: client.id,
          redirect_uri: REDIRECT,
          ...params,
        })
      const bare = await ask({ response_type: 'code' })
      const back = new URL(bare.headers.get('location') ?? '')
      expect(back.searchParams.get('error')).toBe('invalid_request')
      expect(back.searchParams.get('error_description')).toContain('PKCE')
      const pkce = {
        code_challenge: '03BnmsCFjxiiew8w92e0eHJAmcREwx-U10__1usYD2Y',
        code_challenge_method: 'S256',
      }
      expect((await ask({ response_type: 'code', ...pkce })).status).toBe(200)
      expect((await ask({ response_type: 'token' })).status).toBe(200)
    } finally {
      await server.close()
    }
  })

  it('is off by default: clients with a secret may omit code_challenge', async () => {
    const server = await startServer()
    try {
      const { id } = await createClient(server)
      const params = { client_id: id, redirect_uri: REDIRECT, response_type: 'code' }
      expect((await requestAuthorization(server, 'ada', params)).status).toBe(200)
    } finally {
      await server.close()
    }
  })
})

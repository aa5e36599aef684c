import { createLocalJWKSet, jwtVerify } from 'jose'
import * as oauth4webapi from 'oauth4webapi'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { signedIntrospection, systemClock } from '../../src/index.ts'
import { createClient, type ListeningServer, listen, runCodeFlow } from '../support.ts'

const TYPE = 'application/token-introspection+jwt'

let server: ListeningServer
beforeAll(async () => {
  server = await listen({ clock: systemClock, features: [signedIntrospection()] })
})
afterAll(() => server.close())

async function requestIntrospection(
  settings = {},
  headers: Record<string, string> = { accept: TYPE },
) {
  const app = await createClient(server)
  const { access_token: token } = await runCodeFlow(server, app)
  const api = await createClient(server, {
    grants: ['client_credentials'],
    resourceServer: true,
    settings,
  })
  const form = { token, client_id: api.id, client_secret: api.secret }
  return { api, app, token, reply: await server.post('/oauth/introspect', form, headers) }
}

describe('a signed introspection response', () => {
  it.each([
    ['RS256', {}],
    ['ES256', { introspection_signed_response_alg: 'ES256' }],
    ['RS256', { introspection_signed_response_alg: 'EdDSA' }],
  ])('is signed with %s for a client with the settings %j', async (alg, settings) => {
    const { api, app, reply } = await requestIntrospection(settings)
    expect(reply.headers.get('content-type')).toBe(TYPE)
    expect(reply.headers.get('cache-control')).toBe('no-store')
    const jwks = await (await server.request('/.well-known/jwks.json')).json()
    const { payload, protectedHeader } = await jwtVerify(
      await reply.text(),
      createLocalJWKSet(jwks),
      { issuer: server.url, audience: api.id, typ: 'token-introspection+jwt' },
    )
    expect(protectedHeader.alg).toBe(alg)
    expect(Object.keys(payload).sort()).toEqual(['aud', 'iat', 'iss', 'token_introspection'])
    expect(payload.token_introspection).toMatchObject({
      active: true,
      client_id: app.id,
      sub: 'user:ada',
    })
  })

  it('hides tokens of other clients, like the JSON response', async () => {
    const api = await createClient(server, { grants: ['client_credentials'] })
    const form = { token: 'garbage', client_id: api.id, client_secret: api.secret }
    const reply = await server.post('/oauth/introspect', form, { accept: TYPE })
    const [, body = ''] = (await reply.text()).split('.')
    const payload = JSON.parse(Buffer.from(body, 'base64url').toString())
    expect(payload.token_introspection).toEqual({ active: false })
  })

  it('is plain JSON for clients that do not ask for a JWT', async () => {
    for (const headers of [{}, { accept: 'application/json' }]) {
      const { reply } = await requestIntrospection(
        { introspection_signed_response_alg: 'RS256' },
        headers,
      )
      expect(await reply.json()).toMatchObject({ active: true })
    }
  })

  it('can be verified by the library oauth4webapi', async () => {
    const { api, token } = await requestIntrospection()
    const insecure = { [oauth4webapi.allowInsecureRequests]: true }
    const issuer = new URL(server.url)
    const as = await oauth4webapi.processDiscoveryResponse(
      issuer,
      await oauth4webapi.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure }),
    )
    expect(as.introspection_signing_alg_values_supported).toEqual(['RS256', 'ES256'])
    const client = { client_id: api.id, introspection_signed_response_alg: 'RS256' }
    const auth = oauth4webapi.ClientSecretPost(api.secret)
    const options = { requestJwtResponse: true, ...insecure }
    const reply = await oauth4webapi.introspectionRequest(as, client, auth, token, options)
    const introspection = await oauth4webapi.processIntrospectionResponse(as, client, reply)
    expect(introspection.active).toBe(true)
  })

  it('is not accepted as a token by a guard', async () => {
    const { reply } = await requestIntrospection()
    const credentials = {
      authorization: `Bearer ${await reply.text()}`,
      cookie: null,
      csrfToken: null,
    }
    await expect(async () =>
      server.oauth.guard.authenticate('api', credentials),
    ).rejects.toMatchObject({ code: 'invalid_token' })
  })
})

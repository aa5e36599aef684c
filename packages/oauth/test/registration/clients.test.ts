import * as oauth4webapi from 'oauth4webapi'
import * as openidClient from 'openid-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  authorizationCode,
  clientCredentials,
  clientRegistration,
  jwtClientAuthentication,
  openid,
  refreshToken,
  systemClock,
} from '../../src/index.ts'
import { decideInBrowser } from '../clients/browser.ts'
import { createClient, type ListeningServer, listen, REDIRECT, SCOPES } from '../support.ts'
import { createSigner } from './support.ts'

let server: ListeningServer
beforeAll(async () => {
  server = await listen({
    clock: systemClock,
    grants: [authorizationCode(), refreshToken(), clientCredentials()],
    features: [
      openid(),
      jwtClientAuthentication({ sharedSecrets: true }),
      clientRegistration({ policy: 'open' }),
    ],
    scopes: SCOPES,
    selfRegistered: { scopes: ['openid', 'place-orders'] },
  })
})
afterAll(() => server.close())

const insecure = { execute: [openidClient.allowInsecureRequests] }

async function signIn(config: openidClient.Configuration) {
  const pkceCodeVerifier = openidClient.randomPKCECodeVerifier()
  const expectedState = openidClient.randomState()
  const url = openidClient.buildAuthorizationUrl(config, {
    redirect_uri: REDIRECT,
    scope: 'openid place-orders',
    code_challenge: await openidClient.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
    state: expectedState,
  })
  const callback = await decideInBrowser(url)
  const checks = { pkceCodeVerifier, expectedState, idTokenExpected: true }
  return openidClient.authorizationCodeGrant(config, callback, checks)
}

describe('registration and authentication of a client', () => {
  it.each([
    ['client_secret_post', undefined],
    ['client_secret_basic', openidClient.ClientSecretBasic()],
    ['client_secret_jwt', openidClient.ClientSecretJwt()],
    ['none', openidClient.None()],
  ] as const)(
    'work for openid-client with %s',
    async (token_endpoint_auth_method, authentication) => {
      const config = await openidClient.dynamicClientRegistration(
        new URL(server.url),
        { redirect_uris: [REDIRECT], token_endpoint_auth_method },
        authentication,
        insecure,
      )
      const tokens = await signIn(config)
      expect(tokens.scope).toBe('openid place-orders')
      expect(tokens.claims()?.aud).toBe(config.clientMetadata().client_id)
    },
  )

  it('work for openid-client with its default method if the registration request names no method', async () => {
    const metadata = { redirect_uris: [REDIRECT] }
    const config = await openidClient.dynamicClientRegistration(
      new URL(server.url),
      metadata,
      undefined,
      insecure,
    )
    expect((await signIn(config)).scope).toBe('openid place-orders')
  })

  it.each(['RS256', 'PS256', 'ES256', 'Ed25519'])(
    'work for openid-client with private_key_jwt and %s',
    async (algorithm) => {
      const signer = await createSigner(algorithm)
      const config = await openidClient.dynamicClientRegistration(
        new URL(server.url),
        {
          redirect_uris: [REDIRECT],
          token_endpoint_auth_method: 'private_key_jwt',
          jwks: { keys: [signer.jwk as never] },
        },
        openidClient.PrivateKeyJwt({ key: signer.privateKey, kid: 'key' }),
        insecure,
      )
      expect((await signIn(config)).token_type).toBe('bearer')
    },
  )

  it('work for oauth4webapi with its own key', async () => {
    const issuer = new URL(server.url)
    const options = { [oauth4webapi.allowInsecureRequests]: true }
    const as = await oauth4webapi.processDiscoveryResponse(
      issuer,
      await oauth4webapi.discoveryRequest(issuer, { algorithm: 'oauth2', ...options }),
    )
    const reply = await oauth4webapi.dynamicClientRegistrationRequest(
      as,
      { redirect_uris: [REDIRECT], client_name: 'oauth4webapi' },
      options,
    )
    const registered = await oauth4webapi.processDynamicClientRegistrationResponse(reply)
    expect(registered.client_name).toBe('oauth4webapi')

    const signer = await createSigner('ES256')
    const { id: client_id } = await createClient(server, {
      grants: ['client_credentials'],
      settings: {
        token_endpoint_auth_method: 'private_key_jwt',
        jwks: { keys: [signer.jwk] },
      },
    })
    const tokens = await oauth4webapi.clientCredentialsGrantRequest(
      as,
      { client_id },
      oauth4webapi.PrivateKeyJwt({ key: signer.privateKey, kid: 'key' }),
      { scope: 'place-orders' },
      options,
    )
    const processed = await oauth4webapi.processClientCredentialsResponse(as, { client_id }, tokens)
    expect(processed.scope).toBe('place-orders')
  })
})

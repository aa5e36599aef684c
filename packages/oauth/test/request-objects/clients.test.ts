import * as oauth4webapi from 'oauth4webapi'
import * as openidClient from 'openid-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pushedRequests, requestObjects, systemClock } from '../../src/index.ts'
import { decideInBrowser } from '../clients/browser.ts'
import { createClient, type ListeningServer, listen, REDIRECT } from '../support.ts'
import { createSigner } from './support.ts'

let server: ListeningServer
beforeAll(async () => {
  const features = [pushedRequests(), requestObjects({ required: true })]
  server = await listen({ clock: systemClock, features })
})
afterAll(() => server.close())

describe('signed request objects of third-party clients', () => {
  it.each(['RS256', 'PS256', 'ES256', 'Ed25519'])(
    'openid-client signs with %s, sends the object in the URL and in a pushed request, and gets its tokens',
    async (algorithm) => {
      const signer = await createSigner(algorithm)
      const { id, secret } = await createClient(server, {
        settings: { jwks: { keys: [signer.jwk] } },
      })
      const config = await openidClient.discovery(
        new URL(server.url),
        id,
        undefined,
        openidClient.ClientSecretPost(secret),
        { algorithm: 'oauth2', execute: [openidClient.allowInsecureRequests] },
      )
      const key = { key: signer.privateKey, kid: 'key' }
      const direct = (params: Record<string, string>) =>
        openidClient.buildAuthorizationUrlWithJAR(config, params, key)
      const pushed = async (params: Record<string, string>) =>
        openidClient.buildAuthorizationUrlWithPAR(config, (await direct(params)).searchParams)
      for (const build of [direct, pushed]) {
        const pkceCodeVerifier = openidClient.randomPKCECodeVerifier()
        const expectedState = openidClient.randomState()
        const url = await build({
          redirect_uri: REDIRECT,
          scope: 'place-orders',
          code_challenge: await openidClient.calculatePKCECodeChallenge(pkceCodeVerifier),
          code_challenge_method: 'S256',
          state: expectedState,
        })
        const checks = { pkceCodeVerifier, expectedState }
        const callback = await decideInBrowser(url)
        const tokens = await openidClient.authorizationCodeGrant(config, callback, checks)
        expect(tokens.scope).toBe('place-orders')
      }
    },
  )

  it('oauth4webapi signs a request, and accepts the response', async () => {
    const signer = await createSigner('ES256')
    const { id } = await createClient(server, { settings: { jwks: { keys: [signer.jwk] } } })
    const issuer = new URL(server.url)
    const as = await oauth4webapi.processDiscoveryResponse(
      issuer,
      await oauth4webapi.discoveryRequest(issuer, {
        algorithm: 'oauth2',
        [oauth4webapi.allowInsecureRequests]: true,
      }),
    )
    expect(as.require_signed_request_object).toBe(true)
    const params = { response_type: 'code', redirect_uri: REDIRECT, state: 's' }
    const client = { client_id: id }
    const request = await oauth4webapi.issueRequestObject(as, client, params, signer.privateKey)
    const url = new URL(as.authorization_endpoint ?? '')
    url.search = new URLSearchParams({ client_id: id, request }).toString()
    const back = oauth4webapi.validateAuthResponse(as, client, await decideInBrowser(url), 's')
    expect(back.get('code')).toMatch(/^tgc_/)
  })
})

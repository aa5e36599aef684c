import * as oauth4webapi from 'oauth4webapi'
import * as openidClient from 'openid-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pushedRequests, systemClock } from '../../src/index.ts'
import { decideInBrowser } from '../clients/browser.ts'
import { createClient, type ListeningServer, listen, REDIRECT } from '../support.ts'

let server: ListeningServer
beforeAll(async () => {
  server = await listen({ clock: systemClock, features: [pushedRequests({ required: true })] })
})
afterAll(() => server.close())

describe('pushed requests of third-party clients', () => {
  it('openid-client pushes a request and gets its tokens', async () => {
    const { id, secret } = await createClient(server)
    const config = await openidClient.discovery(
      new URL(server.url),
      id,
      undefined,
      openidClient.ClientSecretPost(secret),
      { algorithm: 'oauth2', execute: [openidClient.allowInsecureRequests] },
    )
    const pkceCodeVerifier = openidClient.randomPKCECodeVerifier()
    const expectedState = openidClient.randomState()
    const url = await openidClient.buildAuthorizationUrlWithPAR(config, {
      redirect_uri: REDIRECT,
      scope: 'place-orders',
      code_challenge: await openidClient.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
      state: expectedState,
    })
    expect([...url.searchParams.keys()].sort()).toEqual(['client_id', 'request_uri'])
    const callback = await decideInBrowser(url)
    const checks = { pkceCodeVerifier, expectedState }
    const tokens = await openidClient.authorizationCodeGrant(config, callback, checks)
    expect(tokens.scope).toBe('place-orders')
  })

  it('oauth4webapi pushes as a public client and gets its tokens', async () => {
    const { id } = await createClient(server, { confidential: false })
    const insecure = { [oauth4webapi.allowInsecureRequests]: true }
    const issuer = new URL(server.url)
    const as = await oauth4webapi.processDiscoveryResponse(
      issuer,
      await oauth4webapi.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure }),
    )
    const client = { client_id: id }
    const auth = oauth4webapi.None()
    const verifier = oauth4webapi.generateRandomCodeVerifier()
    const pushedReply = await oauth4webapi.pushedAuthorizationRequest(
      as,
      client,
      auth,
      {
        redirect_uri: REDIRECT,
        response_type: 'code',
        code_challenge: await oauth4webapi.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      },
      insecure,
    )
    const { request_uri } = await oauth4webapi.processPushedAuthorizationResponse(
      as,
      client,
      pushedReply,
    )
    const url = new URL(as.authorization_endpoint ?? '')
    url.search = new URLSearchParams({ client_id: id, request_uri }).toString()
    const callback = oauth4webapi.validateAuthResponse(as, client, await decideInBrowser(url))
    const reply = await oauth4webapi.authorizationCodeGrantRequest(
      as,
      client,
      auth,
      callback,
      REDIRECT,
      verifier,
      insecure,
    )
    const tokens = await oauth4webapi.processAuthorizationCodeResponse(as, client, reply)
    expect(tokens.token_type).toBe('bearer')
  })
})

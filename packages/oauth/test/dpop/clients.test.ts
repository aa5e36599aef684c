import * as oauth4webapi from 'oauth4webapi'
import * as openidClient from 'openid-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dpop, openid, pushedRequests, systemClock } from '../../src/index.ts'
import { type App, frameworks } from '../adapters/frameworks.ts'
import { decideInBrowser } from '../clients/browser.ts'
import { createClient, REDIRECT } from '../support.ts'

const express = frameworks[0]

describe.each([true, false])('DPoP with third-party clients (server nonces: %s)', (nonces) => {
  let app: App
  beforeAll(async () => {
    if (!express) throw new Error('There is no framework')
    const features = [openid(), dpop({ nonces }), pushedRequests()]
    app = await express.start({ clock: systemClock, features })
  })
  afterAll(() => app.close())

  it('openid-client pushes a request, and then gets, uses and refreshes tokens bound to its key', async () => {
    const { id, secret } = await createClient(app)
    const config = await openidClient.discovery(
      new URL(app.url),
      id,
      undefined,
      openidClient.ClientSecretPost(secret),
      { execute: [openidClient.allowInsecureRequests] },
    )
    const keys = await openidClient.randomDPoPKeyPair('ES256')
    const DPoP = openidClient.getDPoPHandle(config, keys)
    const pkceCodeVerifier = openidClient.randomPKCECodeVerifier()
    const url = await openidClient.buildAuthorizationUrlWithPAR(
      config,
      {
        redirect_uri: REDIRECT,
        scope: 'openid place-orders check-status',
        code_challenge: await openidClient.calculatePKCECodeChallenge(pkceCodeVerifier),
        code_challenge_method: 'S256',
      },
      { DPoP },
    )
    const callback = await decideInBrowser(url)
    const tokens = await openidClient.authorizationCodeGrant(
      config,
      callback,
      { pkceCodeVerifier },
      undefined,
      { DPoP },
    )
    expect(tokens.token_type).toBe('dpop')
    const { sub = '' } = tokens.claims() ?? {}
    const orders = new URL('/orders', app.url)
    const call = (token: string) =>
      openidClient.fetchProtectedResource(config, token, orders, 'GET', undefined, undefined, {
        DPoP,
      })
    for (let time = 0; time < 2; time += 1) {
      expect((await call(tokens.access_token)).status).toBe(200)
    }
    const info = await openidClient.fetchUserInfo(config, tokens.access_token, sub, { DPoP })
    expect(info.sub).toBe(sub)
    const next = await openidClient.refreshTokenGrant(
      config,
      tokens.refresh_token ?? '',
      undefined,
      { DPoP },
    )
    expect(next.token_type).toBe('dpop')
    expect((await call(next.access_token)).status).toBe(200)
  })

  it('oauth4webapi works as a public client with an Ed25519 key', async () => {
    const { id } = await createClient(app, { confidential: false })
    const insecure = { [oauth4webapi.allowInsecureRequests]: true }
    const issuer = new URL(app.url)
    const as = await oauth4webapi.processDiscoveryResponse(
      issuer,
      await oauth4webapi.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure }),
    )
    const client: oauth4webapi.Client = { client_id: id }
    const keys = await oauth4webapi.generateKeyPair('Ed25519')
    const DPoP = oauth4webapi.DPoP(client, keys)
    const verifier = oauth4webapi.generateRandomCodeVerifier()
    const url = new URL(as.authorization_endpoint ?? '')
    url.search = new URLSearchParams({
      client_id: id,
      redirect_uri: REDIRECT,
      response_type: 'code',
      scope: 'place-orders check-status',
      code_challenge: await oauth4webapi.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      dpop_jkt: await DPoP.calculateThumbprint(),
    }).toString()
    const callback = oauth4webapi.validateAuthResponse(as, client, await decideInBrowser(url))
    const exchange = async () =>
      oauth4webapi.processAuthorizationCodeResponse(
        as,
        client,
        await oauth4webapi.authorizationCodeGrantRequest(
          as,
          client,
          oauth4webapi.None(),
          callback,
          REDIRECT,
          verifier,
          { DPoP, ...insecure },
        ),
      )
    const tokens = await exchange().catch((error) => {
      if (!nonces || !oauth4webapi.isDPoPNonceError(error)) throw error
      return exchange()
    })
    expect(tokens.token_type).toBe('dpop')
    const reply = await oauth4webapi.protectedResourceRequest(
      tokens.access_token,
      'GET',
      new URL('/orders', app.url),
      undefined,
      undefined,
      { DPoP, ...insecure },
    )
    expect(reply.status).toBe(200)
    const asBearer = await fetch(new URL('/orders', app.url), {
      headers: { authorization: `Bearer ${tokens.access_token}` },
    })
    expect(asBearer.status).toBe(401)
  })
})

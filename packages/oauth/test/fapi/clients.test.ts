import * as oauth4webapi from 'oauth4webapi'
import * as openidClient from 'openid-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fapi2, openid, systemClock } from '../../src/index.ts'
import { type App, frameworks } from '../adapters/frameworks.ts'
import { decideInBrowser } from '../clients/browser.ts'
import { createSigner, type Signer } from '../registration/support.ts'
import { createClient, REDIRECT } from '../support.ts'
import { GRANTS } from './support.ts'

const express = frameworks[0]

describe.each([false, true])('fapi2() with third-party clients (DPoP nonces: %s)', (nonces) => {
  let app: App
  beforeAll(async () => {
    if (!express) throw new Error('There is no framework')
    const features = [fapi2({ dpop: { nonces } }), openid({ idTokenAlgorithms: ['ES256'] })]
    app = await express.start({ clock: systemClock, grants: GRANTS, features })
  })
  afterAll(() => app.close())

  const newClient = async ({ jwk }: Signer) => {
    const settings = {
      token_endpoint_auth_method: 'private_key_jwt',
      jwks: { keys: [jwk] },
    } as const
    const grants = ['authorization_code', 'refresh_token', 'client_credentials'] as const
    return (await createClient(app, { grants, settings })).id
  }

  it.each(['ES256', 'PS256', 'Ed25519'])(
    'openid-client pushes a request, signs a person in, calls the API, refreshes twice and revokes its token, with the algorithm %s',
    async (algorithm) => {
      const signer = await createSigner(algorithm)
      const id = await newClient(signer)
      const config = await openidClient.discovery(
        new URL(app.url),
        id,
        undefined,
        openidClient.PrivateKeyJwt({ key: signer.privateKey, kid: 'key' }),
        { execute: [openidClient.allowInsecureRequests] },
      )
      const keys = await openidClient.randomDPoPKeyPair(algorithm)
      const DPoP = openidClient.getDPoPHandle(config, keys)
      const pkceCodeVerifier = openidClient.randomPKCECodeVerifier()
      const expectedNonce = openidClient.randomNonce()
      const url = await openidClient.buildAuthorizationUrlWithPAR(
        config,
        {
          redirect_uri: REDIRECT,
          scope: 'openid place-orders check-status',
          nonce: expectedNonce,
          code_challenge: await openidClient.calculatePKCECodeChallenge(pkceCodeVerifier),
          code_challenge_method: 'S256',
        },
        { DPoP },
      )
      const callback = await decideInBrowser(url)
      const tokens = await openidClient.authorizationCodeGrant(
        config,
        callback,
        { pkceCodeVerifier, expectedNonce, idTokenExpected: true },
        undefined,
        { DPoP },
      )
      const call = async (token: string) => {
        const orders = new URL('/orders', app.url)
        const of = { DPoP }
        const reply = openidClient.fetchProtectedResource(
          config,
          token,
          orders,
          'GET',
          undefined,
          undefined,
          of,
        )
        return (await reply).status
      }
      expect(await call(tokens.access_token)).toBe(200)
      const { refresh_token = '' } = tokens
      for (let times = 0; times < 2; times += 1) {
        const next = await openidClient.refreshTokenGrant(config, refresh_token, undefined, {
          DPoP,
        })
        expect(next.refresh_token).toBe(refresh_token)
        expect(await call(next.access_token)).toBe(200)
      }
      await openidClient.tokenRevocation(config, refresh_token)
      const refused = openidClient.refreshTokenGrant(config, refresh_token, undefined, { DPoP })
      await expect(refused).rejects.toMatchObject({ error: 'invalid_grant' })
    },
  )

  it('an API rejects a stolen access token that is sent without its key', async () => {
    const signer = await createSigner('ES256')
    const id = await newClient(signer)
    const insecure = { [oauth4webapi.allowInsecureRequests]: true }
    const issuer = new URL(app.url)
    const as = await oauth4webapi.processDiscoveryResponse(
      issuer,
      await oauth4webapi.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure }),
    )
    const client: oauth4webapi.Client = { client_id: id }
    const auth = oauth4webapi.PrivateKeyJwt({ key: signer.privateKey, kid: 'key' })
    const DPoP = oauth4webapi.DPoP(client, await oauth4webapi.generateKeyPair('ES256'))
    const ask = async () =>
      oauth4webapi.processClientCredentialsResponse(
        as,
        client,
        await oauth4webapi.clientCredentialsGrantRequest(
          as,
          client,
          auth,
          { scope: 'check-status' },
          { DPoP, ...insecure },
        ),
      )
    const { access_token } = await ask().catch((error) => {
      if (!nonces || !oauth4webapi.isDPoPNonceError(error)) throw error
      return ask()
    })
    const machine = new URL('/machine', app.url)
    const opened = oauth4webapi.protectedResourceRequest(
      access_token,
      'GET',
      machine,
      undefined,
      undefined,
      { DPoP, ...insecure },
    )
    expect((await opened).status).toBe(200)
    for (const scheme of ['Bearer', 'DPoP']) {
      const headers = { authorization: `${scheme} ${access_token}` }
      expect((await fetch(machine, { headers })).status).toBe(401)
    }
  })
})

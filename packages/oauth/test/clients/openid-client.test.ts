import * as client from 'openid-client'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/index.ts'
import { createClient, type ListeningServer, listen, REDIRECT } from '../support.ts'
import { decideInBrowser } from './browser.ts'

let server: ListeningServer
beforeEach(async () => {
  server = await listen({ clock: systemClock })
})
afterEach(() => server.close())

function discover(id: string, auth: client.ClientAuth): Promise<client.Configuration> {
  return client.discovery(new URL(server.url), id, undefined, auth, {
    algorithm: 'oauth2',
    execute: [client.allowInsecureRequests],
  })
}

async function registerConfidential(
  how: (secret: string) => client.ClientAuth = client.ClientSecretPost,
): Promise<client.Configuration> {
  const { id, secret } = await createClient(server)
  return discover(id, how(secret))
}

async function registerPublic(): Promise<client.Configuration> {
  const { id } = await createClient(server, { confidential: false })
  return discover(id, client.None())
}

async function signIn(
  config: client.Configuration,
  scope = 'place-orders check-status',
): Promise<client.TokenEndpointResponse & client.TokenEndpointResponseHelpers> {
  const pkceCodeVerifier = client.randomPKCECodeVerifier()
  const expectedState = client.randomState()
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: REDIRECT,
    scope,
    code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
    state: expectedState,
  })
  const callback = await decideInBrowser(url)
  return client.authorizationCodeGrant(config, callback, { pkceCodeVerifier, expectedState })
}

describe('openid-client as the client', () => {
  it('discovers a plain OAuth 2.0 server that supports PKCE', async () => {
    const config = await registerConfidential()
    expect(config.serverMetadata().issuer).toBe(server.url)
    expect(config.serverMetadata().supportsPKCE()).toBe(true)
  })

  it.each([
    ['a public client', registerPublic],
    ['a confidential client, secret in the body', () => registerConfidential()],
    [
      'a confidential client, secret in the header',
      () => registerConfidential(client.ClientSecretBasic),
    ],
  ])('signs a person in and refreshes as %s', async (_kind, register) => {
    const config = await register()
    const tokens = await signIn(config)
    expect(tokens.scope).toBe('place-orders check-status')
    expect(tokens.expiresIn()).toBeGreaterThan(0)
    const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token ?? '')
    expect(refreshed.refresh_token).not.toBe(tokens.refresh_token)
    expect(refreshed.scope).toBe('place-orders check-status')
  })

  it('narrows the scope in a refresh', async () => {
    const config = await registerConfidential()
    const tokens = await signIn(config)
    const narrowed = await client.refreshTokenGrant(config, tokens.refresh_token ?? '', {
      scope: 'check-status',
    })
    expect(narrowed.scope).toBe('check-status')
  })

  it('rejects a callback with an unknown state', async () => {
    const config = await registerConfidential()
    const url = client.buildAuthorizationUrl(config, { redirect_uri: REDIRECT, state: 'mine' })
    const callback = await decideInBrowser(url)
    const checks = { expectedState: 'other' }
    await expect(client.authorizationCodeGrant(config, callback, checks)).rejects.toThrow()
    await expect(
      client.authorizationCodeGrant(config, callback, { expectedState: 'mine' }),
    ).resolves.toMatchObject({ token_type: 'bearer' })
  })

  it('gets a token for itself with client credentials', async () => {
    const { id, secret } = await createClient(server, { grants: ['client_credentials'] })
    const config = await discover(id, client.ClientSecretPost(secret))
    const tokens = await client.clientCredentialsGrant(config, { scope: 'check-status' })
    expect(tokens).toMatchObject({ token_type: 'bearer', scope: 'check-status' })
    expect(tokens.refresh_token).toBeUndefined()
  })

  it("signs a person in with the password grant, by openid-client's generic grant request", async () => {
    const { id, secret } = await createClient(server, { grants: ['password', 'refresh_token'] })
    const config = await discover(id, client.ClientSecretPost(secret))
    const tokens = await client.genericGrantRequest(config, 'password', {
      username: 'ada@example.com',
      password: 'correct horse',
      scope: '*',
    })
    expect(tokens.scope).toBe('*')
    const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token ?? '')
    expect(refreshed.scope).toBe('*')
  })

  it('introspects a token, revokes it and finds it inactive', async () => {
    const config = await registerConfidential()
    const tokens = await signIn(config, 'place-orders')
    expect(await client.tokenIntrospection(config, tokens.access_token)).toMatchObject({
      active: true,
      sub: 'user:ada',
      scope: 'place-orders',
    })
    await client.tokenRevocation(config, tokens.access_token, { token_type_hint: 'access_token' })
    expect(await client.tokenIntrospection(config, tokens.access_token)).toEqual({ active: false })
    await expect(
      client.refreshTokenGrant(config, tokens.refresh_token ?? ''),
    ).rejects.toMatchObject({ error: 'invalid_grant' })
  })

  it('lets a resource server introspect the tokens of every client', async () => {
    const tokens = await signIn(await registerConfidential())
    const { id, secret } = await createClient(server, { grants: [], resourceServer: true })
    const api = await discover(id, client.ClientSecretBasic(secret))
    expect(await client.tokenIntrospection(api, tokens.access_token)).toMatchObject({
      active: true,
      sub: 'user:ada',
    })
  })
})

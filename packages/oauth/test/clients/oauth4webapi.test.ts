import * as oauth4webapi from 'oauth4webapi'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/index.ts'
import { createClient, type ListeningServer, listen, REDIRECT } from '../support.ts'
import { decideInBrowser } from './browser.ts'

const insecure = { [oauth4webapi.allowInsecureRequests]: true }

interface Party {
  readonly client: oauth4webapi.Client
  readonly auth: oauth4webapi.ClientAuth
}

let server: ListeningServer
let as: oauth4webapi.AuthorizationServer
beforeEach(async () => {
  server = await listen({ clock: systemClock })
  as = await discover()
})
afterEach(() => server.close())

async function discover(): Promise<oauth4webapi.AuthorizationServer> {
  const issuer = new URL(server.url)
  const response = await oauth4webapi.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure })
  return oauth4webapi.processDiscoveryResponse(issuer, response)
}

async function registerPublic(): Promise<Party> {
  const { id } = await createClient(server, { confidential: false })
  return { client: { client_id: id }, auth: oauth4webapi.None() }
}

async function registerConfidential(
  how: (secret: string) => oauth4webapi.ClientAuth = oauth4webapi.ClientSecretBasic,
): Promise<Party> {
  const { id, secret } = await createClient(server)
  return { client: { client_id: id }, auth: how(secret) }
}

interface Request {
  readonly scope?: string
  readonly user?: string
}

/**
 * Runs the authorization code flow with PKCE and state, with every check of the library enabled.
 */
async function signIn(
  { client, auth }: Party,
  { scope, user = 'ada' }: Request = {},
): Promise<oauth4webapi.TokenEndpointResponse> {
  const verifier = oauth4webapi.generateRandomCodeVerifier()
  const state = oauth4webapi.generateRandomState()
  const url = await authorizationUrl(client, { verifier, state, ...(scope ? { scope } : {}) })
  const callback = await decideInBrowser(url, { user })
  const params = oauth4webapi.validateAuthResponse(as, client, callback, state)
  const response = await oauth4webapi.authorizationCodeGrantRequest(
    as,
    client,
    auth,
    params,
    REDIRECT,
    verifier,
    insecure,
  )
  return oauth4webapi.processAuthorizationCodeResponse(as, client, response)
}

async function authorizationUrl(
  client: oauth4webapi.Client,
  { verifier, ...rest }: { verifier: string; state: string; scope?: string },
): Promise<URL> {
  const url = new URL(as.authorization_endpoint ?? '')
  url.search = new URLSearchParams({
    client_id: client.client_id,
    redirect_uri: REDIRECT,
    response_type: 'code',
    code_challenge: await oauth4webapi.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    ...rest,
  }).toString()
  return url
}

async function refresh(
  { client, auth }: Party,
  token: string | undefined,
  scope?: string,
): Promise<oauth4webapi.TokenEndpointResponse> {
  const response = await oauth4webapi.refreshTokenGrantRequest(as, client, auth, token ?? '', {
    ...insecure,
    ...(scope ? { additionalParameters: { scope } } : {}),
  })
  return oauth4webapi.processRefreshTokenResponse(as, client, response)
}

async function introspect(
  { client, auth }: Party,
  token: string,
): Promise<oauth4webapi.IntrospectionResponse> {
  const response = await oauth4webapi.introspectionRequest(as, client, auth, token, insecure)
  return oauth4webapi.processIntrospectionResponse(as, client, response)
}

async function revoke({ client, auth }: Party, token: string): Promise<void> {
  const response = await oauth4webapi.revocationRequest(as, client, auth, token, insecure)
  await oauth4webapi.processRevocationResponse(response)
}

/** Validates a token as an independent API does: by RFC 9068 and the published keys. */
function validate(token: string): Promise<oauth4webapi.JWTAccessTokenClaims> {
  const request = new Request('https://orders.example/', {
    headers: { authorization: `Bearer ${token}` },
  })
  return oauth4webapi.validateJwtAccessToken(as, request, server.url, insecure)
}

describe('oauth4webapi as the client', () => {
  it('discovers every endpoint with RFC 8414 metadata', () => {
    expect(as).toMatchObject({
      issuer: server.url,
      authorization_endpoint: `${server.url}/oauth/authorize`,
      token_endpoint: `${server.url}/oauth/token`,
      revocation_endpoint: `${server.url}/oauth/revoke`,
      introspection_endpoint: `${server.url}/oauth/introspect`,
      jwks_uri: `${server.url}/.well-known/jwks.json`,
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
    })
    expect(as.grant_types_supported).toContain('authorization_code')
    expect(as.token_endpoint_auth_methods_supported).toEqual([
      'client_secret_basic',
      'client_secret_post',
    ])
    expect(JSON.stringify(as)).not.toContain('none')
  })

  it('signs a person in as a public client with PKCE', async () => {
    const tokens = await signIn(await registerPublic(), { scope: 'place-orders' })
    expect(tokens).toMatchObject({ token_type: 'bearer', scope: 'place-orders' })
    expect(await validate(tokens.access_token)).toMatchObject({ sub: 'user:ada' })
  })

  it.each([
    ['in the Authorization header', oauth4webapi.ClientSecretBasic],
    ['in the body', oauth4webapi.ClientSecretPost],
  ])('signs a person in as a confidential client with its secret %s', async (_where, how) => {
    const tokens = await signIn(await registerConfidential(how), { scope: 'place-orders' })
    expect(tokens).toMatchObject({ scope: 'place-orders', refresh_token: expect.any(String) })
  })

  it('accepts the response to a request without scope', async () => {
    const party = await registerConfidential()
    const tokens = await signIn(party)
    expect(await validate(tokens.access_token)).toMatchObject({ sub: 'user:ada' })
    expect(await introspect(party, tokens.access_token)).toMatchObject({ active: true })
  })

  it('reads the state and the issuer in the authorization response, and rejects wrong values', async () => {
    const { client } = await registerConfidential()
    const verifier = oauth4webapi.generateRandomCodeVerifier()
    const callback = await decideInBrowser(
      await authorizationUrl(client, { verifier, state: 'mine' }),
    )
    expect(callback.searchParams.get('iss')).toBe(server.url)
    expect(() => oauth4webapi.validateAuthResponse(as, client, callback, 'other')).toThrow('state')
    const elsewhere = { ...as, issuer: 'https://evil.example' }
    expect(() => oauth4webapi.validateAuthResponse(elsewhere, client, callback, 'mine')).toThrow(
      'iss',
    )
  })

  it('receives an authorization error when the person denies', async () => {
    const { client } = await registerConfidential()
    const verifier = oauth4webapi.generateRandomCodeVerifier()
    const url = await authorizationUrl(client, { verifier, state: 'mine' })
    const callback = await decideInBrowser(url, { decision: 'deny' })
    expect(() => oauth4webapi.validateAuthResponse(as, client, callback, 'mine')).toThrow(
      expect.objectContaining({ error: 'access_denied' }),
    )
  })

  it('cannot exchange a code with the code verifier of another request', async () => {
    const { client, auth } = await registerPublic()
    const verifier = oauth4webapi.generateRandomCodeVerifier()
    const callback = await decideInBrowser(
      await authorizationUrl(client, { verifier, state: 'mine' }),
    )
    const params = oauth4webapi.validateAuthResponse(as, client, callback, 'mine')
    const response = await oauth4webapi.authorizationCodeGrantRequest(
      as,
      client,
      auth,
      params,
      REDIRECT,
      oauth4webapi.generateRandomCodeVerifier(),
      insecure,
    )
    await expect(
      oauth4webapi.processAuthorizationCodeResponse(as, client, response),
    ).rejects.toMatchObject({ error: 'invalid_grant', status: 400 })
  })

  it.each([
    ['public', registerPublic],
    ['confidential', () => registerConfidential()],
  ])('refreshes repeatedly as a %s client', async (_kind, register) => {
    const party = await register()
    let tokens = await signIn(party, { scope: 'place-orders check-status' })
    for (let round = 0; round < 3; round += 1) {
      const next = await refresh(party, tokens.refresh_token)
      expect(next.refresh_token).not.toBe(tokens.refresh_token)
      expect(next.scope).toBe('place-orders check-status')
      expect(await validate(next.access_token)).toMatchObject({ sub: 'user:ada' })
      tokens = next
    }
  })

  it('narrows the scope in a refresh and cannot widen it', async () => {
    const party = await registerConfidential()
    const tokens = await signIn(party, { scope: 'place-orders' })
    await expect(refresh(party, tokens.refresh_token, 'check-status')).rejects.toMatchObject({
      error: 'invalid_scope',
    })
    const both = await signIn(party, { scope: 'place-orders check-status' })
    const narrowed = await refresh(party, both.refresh_token, 'check-status')
    expect(narrowed.scope).toBe('check-status')
    expect(await validate(narrowed.access_token)).toMatchObject({ scope: 'check-status' })
  })

  it('gets a token for itself with client credentials', async () => {
    const { id, secret } = await createClient(server, { grants: ['client_credentials'] })
    const client = { client_id: id }
    const response = await oauth4webapi.clientCredentialsGrantRequest(
      as,
      client,
      oauth4webapi.ClientSecretBasic(secret),
      { scope: 'check-status' },
      insecure,
    )
    const tokens = await oauth4webapi.processClientCredentialsResponse(as, client, response)
    expect(tokens.refresh_token).toBeUndefined()
    expect(await validate(tokens.access_token)).toMatchObject({
      sub: `client:${id}`,
      client_id: id,
      scope: 'check-status',
    })
  })

  it('can introspect its own tokens, and learns nothing about tokens of other clients', async () => {
    const party = await registerConfidential()
    const tokens = await signIn(party, { scope: 'place-orders' })
    expect(await introspect(party, tokens.access_token)).toMatchObject({
      active: true,
      token_type: 'Bearer',
      scope: 'place-orders',
      client_id: party.client.client_id,
      iss: server.url,
      sub: 'user:ada',
    })
    expect(await introspect(party, tokens.refresh_token ?? '')).toMatchObject({ active: true })
    const stranger = await registerConfidential()
    expect(await introspect(stranger, tokens.access_token)).toEqual({ active: false })
  })

  it.each(['access_token', 'refresh_token'] as const)(
    'revokes the access token and the refresh token by sending only the %s',
    async (shown) => {
      const party = await registerConfidential()
      const tokens = await signIn(party)
      await revoke(party, tokens[shown] ?? '')
      expect(await introspect(party, tokens.access_token)).toEqual({ active: false })
      await expect(refresh(party, tokens.refresh_token)).rejects.toMatchObject({
        error: 'invalid_grant',
      })
    },
  )

  it('revokes a token as a public client, which identifies itself only by client_id', async () => {
    const party = await registerPublic()
    const tokens = await signIn(party)
    await revoke(party, tokens.refresh_token ?? '')
    await expect(refresh(party, tokens.refresh_token)).rejects.toMatchObject({
      error: 'invalid_grant',
    })
  })

  it('receives 401 and a challenge for a wrong secret', async () => {
    const { client } = await registerConfidential()
    const attempt = introspect({ client, auth: oauth4webapi.ClientSecretBasic('wrong') }, 'x')
    await expect(attempt).rejects.toMatchObject({
      code: oauth4webapi.WWW_AUTHENTICATE_CHALLENGE,
      status: 401,
    })
  })

  it('rejects an access token that was issued for another audience', async () => {
    const tokens = await signIn(await registerConfidential())
    const request = new Request('https://orders.example/', {
      headers: { authorization: `Bearer ${tokens.access_token}` },
    })
    await expect(
      oauth4webapi.validateJwtAccessToken(as, request, 'https://orders.example', insecure),
    ).rejects.toThrow('aud')
  })
})

describe('an API that validates access tokens by RFC 9068', () => {
  it.each(['EdDSA', 'ES256', 'RS256'] as const)(
    'accepts tokens signed with %s',
    async (signingAlgorithm) => {
      await server.close()
      server = await listen({ clock: systemClock, signingAlgorithm })
      as = await discover()
      const party = await registerConfidential()
      const tokens = await signIn(party, { scope: 'place-orders' })
      expect(await validate(tokens.access_token)).toMatchObject({
        iss: server.url,
        aud: server.url,
        sub: 'user:ada',
        client_id: party.client.client_id,
        scope: 'place-orders',
      })
    },
  )
})

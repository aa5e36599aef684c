import * as oauth from 'oauth4webapi'
import {
  type ProviderTools,
  type UpstreamAttempt,
  UpstreamFailure,
  type UpstreamIdentity,
  type UpstreamProvider,
} from './provider.ts'
import { asUpstreamFailure, requestOptions } from './requests.ts'

/** The claims of a validated ID token, and those of UserInfo about the same person. */
export type Claims = Readonly<Record<string, unknown>> & { readonly sub: string }

/** How one provider uses OpenID Connect. */
export interface OpenIdProfile {
  readonly id: string
  readonly name: string
  /** The issuer, under which the discovery document is found. */
  readonly issuer: string
  readonly clientId: string
  readonly scopes: readonly string[]
  /** Returns how the client authenticates at the token endpoint. */
  authenticate(server: oauth.AuthorizationServer): oauth.ClientAuth
  /** Further parameters of the authorization request. */
  readonly parameters?: Readonly<Record<string, string>>
  /**
   * Parameters that make the provider ask the person to sign in again. With `max_age`, the ID token
   * must tell when the person signed in.
   */
  readonly freshParameters: Readonly<Record<string, string>>
  /**
   * Whether the discovery document may name this issuer.
   * @default only `issuer`
   */
  acceptsIssuer?(issuer: string): boolean
  /**
   * Returns the issuer that an ID token must have, given the `tid` claim that it contains.
   * @default the issuer of the discovery document
   */
  issuerOf?(server: oauth.AuthorizationServer, tenant: unknown): string
  /** Reads the person from the claims. */
  readIdentity(claims: Claims): Omit<UpstreamIdentity, 'authenticatedAt'>
}

const HOUR = 3600_000
/** Tolerated difference between the clocks of the provider and of this service, in seconds. */
const CLOCK_TOLERANCE = 60

/** Creates a provider of OpenID Connect. Reads its discovery document when it is first needed. */
export function createOpenIdProvider(
  profile: OpenIdProfile,
  tools: ProviderTools,
): UpstreamProvider {
  const { id, name, issuer, clientId, parameters = {} } = profile
  const http = requestOptions(tools, issuer)
  const keys = { [oauth.jwksCache]: {} }
  const discover = createDiscovery(profile, tools)
  const createClient = (): oauth.Client => ({
    client_id: clientId,
    [oauth.clockSkew]: Math.round((tools.now().getTime() - Date.now()) / 1000),
    [oauth.clockTolerance]: CLOCK_TOLERANCE,
  })

  /** Sends the code, and returns the claims of the ID token after all checks. */
  async function redeem(
    server: oauth.AuthorizationServer,
    response: URLSearchParams,
    attempt: UpstreamAttempt,
  ): Promise<Claims> {
    const client = createClient()
    const callback = oauth.validateAuthResponse(server, client, response, attempt.state)
    const tokens = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      profile.authenticate(server),
      callback,
      attempt.redirectUri,
      attempt.codeVerifier,
      http,
    )
    const exact = profile.issuerOf
      ? { ...server, issuer: profile.issuerOf(server, await peekTenant(tokens)) }
      : server
    const result = await oauth.processAuthorizationCodeResponse(exact, client, tokens, {
      expectedNonce: attempt.nonce,
      requireIdToken: true,
    })
    await oauth.validateApplicationLevelSignature(exact, tokens, { ...http, ...keys })
    const claims = oauth.getValidatedIdTokenClaims(result)
    if (!claims) throw new UpstreamFailure('invalid', 'The response contains no ID token')
    if (claims.email !== undefined || !server.userinfo_endpoint) return claims
    // Many providers put the claims of the scopes into UserInfo only.
    const userInfo = await oauth.userInfoRequest(exact, client, result.access_token, http)
    const info = await oauth.processUserInfoResponse(exact, client, claims.sub, userInfo)
    return { ...info, ...claims }
  }

  return {
    id,
    name,
    origin: new URL(issuer).origin,
    postsResponse: parameters.response_mode === 'form_post',
    begin: (attempt) =>
      asUpstreamFailure(async () => {
        const server = await discover()
        const url = new URL(server.authorization_endpoint ?? '')
        const query = {
          response_type: 'code',
          client_id: clientId,
          redirect_uri: attempt.redirectUri,
          scope: profile.scopes.join(' '),
          state: attempt.state,
          nonce: attempt.nonce,
          code_challenge: await oauth.calculatePKCECodeChallenge(attempt.codeVerifier),
          code_challenge_method: 'S256',
          ...parameters,
          ...(attempt.isFresh && profile.freshParameters),
        }
        for (const [key, value] of Object.entries(query)) url.searchParams.set(key, value)
        return url
      }),
    finish: (response, attempt) =>
      asUpstreamFailure(async () => {
        const server = await discover()
        const claims = await redeem(server, response, attempt)
        const authenticatedAt = readAuthTime(claims)
        requireFresh(authenticatedAt, attempt, 'max_age' in profile.freshParameters)
        return { ...profile.readIdentity(claims), authenticatedAt }
      }),
    check: () =>
      asUpstreamFailure(async () => {
        const server = await discover()
        return `${name}: the discovery document of ${server.issuer} is complete`
      }),
  }
}

/** Reads the discovery document and keeps it for an hour. Keeps an old one while it cannot be read. */
function createDiscovery(
  { issuer, acceptsIssuer }: OpenIdProfile,
  { fetch, now }: ProviderTools,
): () => Promise<oauth.AuthorizationServer> {
  let kept: { readonly server: oauth.AuthorizationServer; readonly until: number } | null = null
  let reading: Promise<oauth.AuthorizationServer> | null = null

  async function read(): Promise<oauth.AuthorizationServer> {
    const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
    const response = await fetch(url, { method: 'GET', headers: { accept: 'application/json' } })
    const document: unknown = response.ok ? await response.json().catch(() => null) : null
    const server = parseDiscovery(document, issuer, acceptsIssuer ?? ((named) => named === issuer))
    if (typeof server !== 'string') return server
    throw new UpstreamFailure('unavailable', `${url}: ${server}`)
  }

  return async () => {
    const at = now().getTime()
    if (kept && at < kept.until) return kept.server
    reading ??= read().finally(() => {
      reading = null
    })
    try {
      const server = await reading
      kept = { server, until: at + HOUR }
      return server
    } catch (error) {
      if (kept) return kept.server
      throw error
    }
  }
}

/** Parses a discovery document. Returns a sentence about what is wrong with an unusable one. */
function parseDiscovery(
  document: unknown,
  issuer: string,
  acceptsIssuer: (named: string) => boolean,
): oauth.AuthorizationServer | string {
  if (typeof document !== 'object' || document === null) return 'there is no discovery document'
  const server = document as Readonly<Record<string, unknown>>
  if (typeof server.issuer !== 'string' || !acceptsIssuer(server.issuer)) {
    return `the document names another issuer, ${JSON.stringify(server.issuer)?.slice(0, 200)}`
  }
  const protocols = issuer.startsWith('http:') ? ['http:', 'https:'] : ['https:']
  const isUrl = (value: unknown) =>
    typeof value === 'string' && URL.canParse(value) && protocols.includes(new URL(value).protocol)
  const wrong = ['authorization_endpoint', 'token_endpoint', 'jwks_uri'].find(
    (member) => !isUrl(server[member]),
  )
  if (wrong !== undefined) return `${wrong} is missing, or is not a URL with https`
  return document as oauth.AuthorizationServer
}

/** Reads the tenant from an ID token that is not validated yet, to choose the issuer to expect. */
async function peekTenant(tokens: Response): Promise<unknown> {
  try {
    const { id_token: token } = (await tokens.clone().json()) as { id_token?: unknown }
    const [, payload = ''] = String(token).split('.')
    return JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')).tid
  } catch {
    return undefined
  }
}

function readAuthTime({ auth_time: at }: Claims): Date | null {
  return typeof at === 'number' && Number.isFinite(at) ? new Date(at * 1000) : null
}

/**
 * Checks that the person signed in during the attempt, if it must be fresh. `isTold` says whether the
 * provider promises to tell when the person signed in.
 */
function requireFresh(
  authenticatedAt: Date | null,
  { isFresh, startedAt }: UpstreamAttempt,
  isTold: boolean,
): void {
  if (!isFresh) return
  const earliest = startedAt.getTime() - CLOCK_TOLERANCE * 1000
  const isOld = authenticatedAt === null ? isTold : authenticatedAt.getTime() < earliest
  if (isOld) throw new UpstreamFailure('stale', 'The person did not sign in again at the provider')
}

/** Reads the standard claims about a person. */
export function readStandardClaims(claims: Claims): Omit<UpstreamIdentity, 'authenticatedAt'> {
  const { sub: subject, email, email_verified: isVerified, name } = claims
  return {
    subject,
    email: typeof email === 'string' ? email : null,
    isEmailVerified: isVerified === true,
    name: typeof name === 'string' ? name : null,
  }
}

/** Chooses the method with which a client with a secret authenticates: `basic` unless only `post` is supported. */
export function authenticateWithSecret(secret: string) {
  return ({ token_endpoint_auth_methods_supported: methods }: oauth.AuthorizationServer) =>
    methods?.includes('client_secret_post') && !methods.includes('client_secret_basic')
      ? oauth.ClientSecretPost(secret)
      : oauth.ClientSecretBasic(secret)
}

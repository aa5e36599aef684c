import { isUnencryptedRedirect } from '../../clients/redirect-uris.ts'
import type { ServerContext } from '../../context.ts'
import type { ClientKeyAlgorithm } from '../../crypto.ts'
import { InvalidRequest } from '../../errors.ts'
import { parseSeconds } from '../../lifetimes.ts'
import { jwtClientAuthentication } from '../client-authentication/jwt-client-authentication.ts'
import type { JwtClientAuthenticationOptions } from '../client-authentication/settings.ts'
import { dpop } from '../dpop/dpop.ts'
import type { DpopOptions } from '../dpop/settings.ts'
import type { Feature } from '../feature.ts'
import { type PushedRequestsOptions, pushedRequests } from '../requests/pushed-requests.ts'
import { requestObjects } from '../requests/request-objects.ts'
import { requirePkce } from '../require-pkce.ts'

/** Options of `fapi2()`: the choices that the FAPI 2.0 Security Profile leaves open. */
export interface Fapi2Options {
  /** Options for the DPoP proofs that every client sends. */
  readonly dpop?: Pick<DpopOptions, 'nonces' | 'apiUrls' | 'guardReplays'>
  /**
   * Options for the requests that every client pushes. `lifetime` must be less than 600 seconds.
   */
  readonly pushedRequests?: Pick<PushedRequestsOptions, 'lifetime'>
  /** Options for the assertions with which every client authenticates. */
  readonly clientAssertions?: Pick<JwtClientAuthenticationOptions, 'assertionsExpireIn'>
  /**
   * Whether clients may (`true`) or must (`'required'`) sign their pushed requests (RFC 9101).
   * @default false
   */
  readonly requestObjects?: boolean | 'required'
}

/** Algorithms of FAPI 2.0 Security Profile §5.4.1. */
const ALGORITHMS: readonly ClientKeyAlgorithm[] = ['PS256', 'ES256', 'Ed25519', 'EdDSA']

/** FAPI 2.0 Security Profile §5.3.2.2: `expires_in` of a pushed request must be below this. */
const LIFETIME_LIMIT = 600

/**
 * Enforces the FAPI 2.0 Security Profile, for APIs where a stolen token would be expensive. Every
 * client must push its requests, use PKCE, authenticate with its own key, and use tokens bound to a
 * key. Tokens are bound by DPoP; mutual TLS is not offered.
 * @throws TypeError at start-up if a grant, feature or algorithm is configured that the profile
 * forbids
 * @example
 * const oauth = createAuthorizationServer({
 *   …, grants: [authorizationCode(), refreshToken()], features: [fapi2()],
 * })
 * await oauth.clients.create({
 *   name: 'Bank',
 *   redirect: 'https://bank.example/callback',
 *   settings: {
 *     token_endpoint_auth_method: 'private_key_jwt',
 *     jwks_uri: 'https://bank.example/jwks.json',
 *   },
 * })
 */
export function fapi2(options: Fapi2Options = {}): Feature {
  const { requestObjects: objects = false } = options
  const { lifetime = 60 } = options.pushedRequests ?? {}
  if (parseSeconds('fapi2: pushedRequests.lifetime', lifetime) >= LIFETIME_LIMIT) {
    throw new TypeError(
      `fapi2: pushedRequests.lifetime must be less than ${LIFETIME_LIMIT} seconds.`,
    )
  }
  const includes: readonly Feature[] = [
    requirePkce(),
    pushedRequests({ lifetime, required: true, requireRedirectUri: true }),
    dpop({
      ...options.dpop,
      required: true,
      algorithms: ALGORITHMS,
      rotateRefreshTokens: false,
    }),
    jwtClientAuthentication({
      ...options.clientAssertions,
      required: true,
      algorithms: ALGORITHMS,
      audience: 'issuer',
    }),
    ...(objects
      ? [
          requestObjects({
            algorithms: ALGORITHMS,
            unsigned: 'never',
            required: objects === 'required',
          }),
        ]
      : []),
  ]
  return {
    name: 'fapi2',
    includes,
    readRequest(params, _request, { issuer }) {
      assertEncrypted(params.get('redirect_uri'), issuer)
      return null
    },
    start(context: ServerContext) {
      assertProfile(includes, context)
      return () => {}
    },
  }
}

/**
 * Rejects unencrypted redirect URIs, also of clients registered earlier. §5.3.2.2 allows http only
 * on the person's own machine.
 */
function assertEncrypted(redirectUri: string | undefined, issuer: string): void {
  if (redirectUri === undefined || !isUnencryptedRedirect(redirectUri, issuer)) return
  throw new InvalidRequest('The redirect_uri must use https')
}

/** Features that fapi2() includes with stricter settings than an application would choose. */
const INCLUDED_FEATURES: readonly string[] = [
  'requirePkce',
  'pushedRequests',
  'dpop',
  'jwtClientAuthentication',
  'requestObjects',
]

/** How to configure features that sign with RS256 by default. */
const ALGORITHM_ADVICE: Readonly<Record<string, string>> = {
  openid: "Write openid({ idTokenAlgorithms: ['ES256'] }).",
  signedIntrospection: "Write signedIntrospection({ algorithms: ['ES256'] }).",
}

/**
 * Rejects a server that also offers something the profile forbids, because it would not conform.
 */
function assertProfile(addedFeatures: readonly Feature[], context: ServerContext): void {
  const problem = findProblem(addedFeatures, context)
  if (problem !== null) throw new TypeError(`fapi2(): ${problem}`)
}

function findProblem(brought: readonly Feature[], context: ServerContext): string | null {
  const { features, grants, responses, keys } = context
  const listed = features.all.find(
    (feature) => INCLUDED_FEATURES.includes(feature.name) && !brought.includes(feature),
  )
  if (listed) {
    return `remove ${listed.name}() from features. fapi2() adds it with the settings that the profile requires, and has options for the rest.`
  }
  const forbidden = ['implicit', 'password'].find((type) => grants.has(type))
  if (forbidden !== undefined) {
    return `remove ${forbidden}() from grants. FAPI 2.0 forbids it.`
  }
  const type = [...responses.keys()].find((name) => name !== 'code')
  if (type !== undefined) {
    return `remove '${type}' from responseTypes. FAPI 2.0 allows only response_type=code.`
  }
  if (!keys.algorithms.has('RS256')) return null
  const signs = features.all.find(({ algorithms }) => algorithms?.includes('RS256'))?.name
  const what = signs
    ? `${signs}()`
    : 'The signingAlgorithm of the server, or of one of its resources,'
  const fix = ALGORITHM_ADVICE[signs ?? ''] ?? 'Use ES256 or EdDSA.'
  return `${what} signs with RS256, which FAPI 2.0 forbids. ${fix}`
}

import { isReadable } from '../../clients/redirect-uris.ts'
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
import { assertProfile } from './assert-profile.ts'

/** What `fapi2()` is made with: the choices that the profile leaves. */
export interface Fapi2Options {
  /** Of the DPoP proofs that every client sends. */
  readonly dpop?: Pick<DpopOptions, 'nonces' | 'apiUrls' | 'guardReplays'>
  /** Of the requests that every client pushes; `lifetime` must be less than 600 seconds. */
  readonly pushedRequests?: Pick<PushedRequestsOptions, 'lifetime'>
  /** Of the assertions by which every client proves itself. */
  readonly clientAssertions?: Pick<JwtClientAuthenticationOptions, 'assertionsExpireIn'>
  /** Whether clients may sign what they push (RFC 9101), or must. Default false. */
  readonly requestObjects?: boolean | 'required'
}

/** FAPI 2.0 Security Profile §5.4.1. */
const ALGORITHMS: readonly ClientKeyAlgorithm[] = ['PS256', 'ES256', 'Ed25519', 'EdDSA']

/** FAPI 2.0 Security Profile §5.3.2.2: `expires_in` of a pushed request is less than that. */
const LIFETIME_LIMIT = 600

/**
 * The FAPI 2.0 Security Profile, for APIs where a stolen token costs a lot: clients push their requests, with PKCE,
 * prove themselves by a key of theirs, and get tokens that only the holder of a key may use. All of it is required of
 * every client. Tokens are bound by DPoP; mutual TLS is not offered.
 * @throws TypeError at start-up where something else is listed that the profile forbids.
 * @example
 * createAuthorizationServer({ …, grants: [authorizationCode(), refreshToken()], features: [fapi2()] })
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

/** §5.3.2.2: http is for the person's own machine alone, also of clients that were registered long ago. */
function assertEncrypted(redirectUri: string | undefined, issuer: string): void {
  if (redirectUri === undefined || !isReadable(redirectUri, issuer)) return
  throw new InvalidRequest('The redirect_uri must use https')
}

import { getPublicClientId } from '../../clients/client.ts'
import type { ServerContext } from '../../context.ts'
import { computeLeftHalfHash, type SigningAlgorithm } from '../../crypto.ts'
import { signJwt } from '../../keys/signing-key.ts'
import type { GrantDetails } from '../../storage/details.ts'
import type { Client } from '../../storage/records.ts'
import { filterRequestedClaims, selectClaims, selectRequestedClaims } from './claims.ts'
import type { OpenIdSettings } from './settings.ts'
import { chooseSubjectForClient } from './subject.ts'
import { readUserClaims } from './user-claims.ts'

export interface IdTokenRequest {
  readonly client: Client
  readonly userId: string
  readonly scopes: readonly string[]
  readonly details: GrantDetails
  /**
   * The `nonce` of the authorization request. `undefined` on refresh (OpenID Connect Core §12.2).
   */
  readonly nonce: string | undefined
  /** The access token returned with the ID token, for `at_hash`. */
  readonly accessToken?: string
  /** The code returned with the ID token at the authorization endpoint, for `c_hash`. */
  readonly code?: string
  /**
   * Whether the ID token contains the claims of all granted scopes. Needed if no access token is
   * issued, or if the client does not use UserInfo.
   */
  readonly withScopes?: boolean
}

/**
 * Creates an ID token (OpenID Connect Core §2). It has no claims `scope` and `client_id`, so that
 * it is never accepted as an access token.
 */
export async function createIdToken(
  request: IdTokenRequest,
  settings: OpenIdSettings,
  context: ServerContext,
): Promise<string> {
  const { client, userId, details, accessToken, code } = request
  const algorithm = chooseIdTokenAlgorithm(client, settings, context)
  const now = context.clock.now()
  const { at, acr, amr, sid } = details.signIn ?? {}
  const claims = {
    ...(await userClaims(request, context)),
    iss: context.issuer,
    sub: chooseSubjectForClient(client, userId, settings),
    aud: getPublicClientId(client),
    azp: getPublicClientId(client),
    exp: settings.expireAt(now).getTime() / 1000,
    iat: Math.floor(now.getTime() / 1000),
    auth_time: at,
    nonce: request.nonce,
    acr,
    amr,
    sid,
    at_hash: accessToken && computeLeftHalfHash(algorithm, accessToken),
    c_hash: code && computeLeftHalfHash(algorithm, code),
  }
  return signJwt(context.keys.current(algorithm), 'JWT', claims)
}

/**
 * Returns the algorithms that discovery lists for ID tokens. Includes the algorithm of access
 * tokens, because go-oidc, express-oauth2-jwt-bearer and others apply the list to access tokens
 * too.
 */
export function listOfferedIdTokenAlgorithms(
  { algorithms }: OpenIdSettings,
  { options: { signingAlgorithm } }: ServerContext,
): readonly SigningAlgorithm[] {
  return [...new Set([...algorithms, signingAlgorithm])]
}

export function chooseIdTokenAlgorithm(
  { settings: { id_token_signed_response_alg } }: Client,
  settings: OpenIdSettings,
  context: ServerContext,
): SigningAlgorithm {
  if (id_token_signed_response_alg === undefined) return settings.algorithm
  const preferred = listOfferedIdTokenAlgorithms(settings, context).find(
    (name) => name === id_token_signed_response_alg,
  )
  return preferred ?? settings.algorithm
}

/**
 * Returns the user's claims for the token. If the application fails to provide them, the token is
 * issued without them rather than failing the grant.
 */
async function userClaims(
  { userId, scopes, details, withScopes }: IdTokenRequest,
  context: ServerContext,
): Promise<Record<string, unknown>> {
  const wishes = filterRequestedClaims(details.claims?.id_token, scopes, details)
  if (!withScopes && !wishes) return {}
  try {
    const all = await readUserClaims(userId, scopes, details, context)
    if (!all) return {}
    return withScopes ? selectClaims(all, scopes, wishes) : selectRequestedClaims(all, wishes)
  } catch (error) {
    context.logger.error(
      'users.claims() failed: an ID token was issued without these claims',
      error,
    )
    return {}
  }
}

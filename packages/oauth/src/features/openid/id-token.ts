import { clientIdOf } from '../../clients/client.ts'
import type { ServerContext } from '../../context.ts'
import { leftHalfHash, type SigningAlgorithm } from '../../crypto.ts'
import { signJwt } from '../../keys/signing-key.ts'
import type { GrantDetails } from '../../storage/details.ts'
import type { Client } from '../../storage/records.ts'
import { heldWishes, selectClaims, selectWished } from './claims.ts'
import type { OpenIdSettings } from './settings.ts'
import { subjectFor } from './subject.ts'
import { claimsOf } from './user-claims.ts'

export interface IdTokenRequest {
  readonly client: Client
  readonly userId: string
  readonly scopes: readonly string[]
  readonly details: GrantDetails
  /** Left out when a token is refreshed (OpenID Connect Core §12.2). */
  readonly nonce: string | undefined
  /** What it comes together with. */
  readonly accessToken?: string
  /** What it comes together with, at the authorization endpoint. */
  readonly code?: string
  /** The claims of the scopes too: no access token comes, now or later, or the client never asks UserInfo. */
  readonly withScopes?: boolean
}

/** OpenID Connect Core §2. Its `typ` is never that of access tokens, and it has neither `scope` nor `client_id`. */
export async function createIdToken(
  request: IdTokenRequest,
  settings: OpenIdSettings,
  context: ServerContext,
): Promise<string> {
  const { client, userId, details, accessToken, code } = request
  const algorithm = algorithmFor(client, settings, context)
  const now = context.clock.now()
  const { at, acr, amr, sid } = details.signIn ?? {}
  const claims = {
    ...(await userClaims(request, context)),
    iss: context.issuer,
    sub: subjectFor(client, userId, settings),
    aud: clientIdOf(client),
    azp: clientIdOf(client),
    exp: settings.expireAt(now).getTime() / 1000,
    iat: Math.floor(now.getTime() / 1000),
    auth_time: at,
    nonce: request.nonce,
    acr,
    amr,
    sid,
    at_hash: accessToken && leftHalfHash(algorithm, accessToken),
    c_hash: code && leftHalfHash(algorithm, code),
  }
  return signJwt(context.keys.current(algorithm), 'JWT', claims)
}

/**
 * Those that there are keys for: that of access tokens as well, because go-oidc, express-oauth2-jwt-bearer and others
 * believe of access tokens what discovery says of ID tokens.
 */
export function offeredAlgorithms(
  { algorithms }: OpenIdSettings,
  { options: { signingAlgorithm } }: ServerContext,
): readonly SigningAlgorithm[] {
  return [...new Set([...algorithms, signingAlgorithm])]
}

export function algorithmFor(
  { settings: { id_token_signed_response_alg } }: Client,
  settings: OpenIdSettings,
  context: ServerContext,
): SigningAlgorithm {
  if (id_token_signed_response_alg === undefined) return settings.algorithm
  const wished = offeredAlgorithms(settings, context).find(
    (name) => name === id_token_signed_response_alg,
  )
  return wished ?? settings.algorithm
}

/** Claims are never worth a grant: where the application cannot give them, the token comes without. */
async function userClaims(
  { userId, scopes, details, withScopes }: IdTokenRequest,
  context: ServerContext,
): Promise<Record<string, unknown>> {
  const wishes = heldWishes(details.claims?.id_token, scopes, details)
  if (!withScopes && !wishes) return {}
  try {
    const all = await claimsOf(userId, scopes, details, context)
    if (!all) return {}
    return withScopes ? selectClaims(all, scopes, wishes) : selectWished(all, wishes)
  } catch (error) {
    context.logger.error('users.claims() failed: an ID token was sent without them', error)
    return {}
  }
}

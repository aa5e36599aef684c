import { sha256 } from '../../crypto.ts'
import type { Actor, GrantDetails, ParentToken } from '../../storage/details.ts'
import type { Token } from '../../storage/records.ts'
import { formatTokenId } from '../../storage/rotated-token.ts'

/** The claims of an access token (RFC 9068 §2.2). */
export interface AccessTokenClaims {
  /** Issuer: the public URL of the server that issued the token. */
  readonly iss: string
  /** Subject: `user:` or `client:` and an id. */
  readonly sub: string
  /** Audience: the API or APIs that the token is for. */
  readonly aud: string | readonly string[]
  /** The client the token was issued to. */
  readonly client_id: string
  /** Token id: the id of its row, a dot, and the number of refreshes. */
  readonly jti: string
  /** When the token was issued, in seconds since the epoch. */
  readonly iat: number
  /** When the token expires, in seconds since the epoch. */
  readonly exp: number
  /** Granted scopes, separated by spaces. */
  readonly scope: string
  /** The party that acts for the user, in a delegated token (RFC 8693 §4.1). */
  readonly act?: Actor
  /**
   * The tokens that this token was exchanged for. When one of them is revoked, this token becomes
   * invalid, too.
   */
  readonly parents?: readonly ParentToken[]
  /**
   * Thumbprint of the key the token is bound to (RFC 9449 §6.1). Only the holder of the key may use
   * the token.
   */
  readonly cnf?: { readonly jkt: string }
  /** When the user authenticated, in seconds since the epoch (RFC 9470 §6). */
  readonly auth_time?: number
  /** Authentication context class of the sign-in (RFC 9470 §6). */
  readonly acr?: string
}

/** Subject of an access token: a user, or a client that acts for itself. */
export type Subject =
  | { readonly kind: 'user'; readonly id: string }
  | { readonly kind: 'client'; readonly id: string }

export function formatSubject(token: Pick<Token, 'userId' | 'clientId'>): string {
  return token.userId === null ? `client:${token.clientId}` : `user:${token.userId}`
}

export function parseSubject(text: string): Subject | null {
  if (text.startsWith('user:')) return { kind: 'user', id: text.slice(5) }
  if (text.startsWith('client:')) return { kind: 'client', id: text.slice(7) }
  return null
}

/** The fields of a token's row that end up in one access token. */
type IssuedTokenFields = Pick<
  Token,
  'id' | 'clientId' | 'userId' | 'generation' | 'issuedAt' | 'expiresAt' | 'details'
>

export function buildClaims(
  token: IssuedTokenFields,
  scopes: readonly string[],
  server: { readonly issuer: string; readonly audience: string | readonly string[] },
): AccessTokenClaims {
  const claims = {
    iss: server.issuer,
    sub: formatSubject(token),
    aud: server.audience,
    client_id: token.clientId,
    jti: formatTokenId(token),
    iat: Math.floor(token.issuedAt.getTime() / 1000),
    exp: Math.floor(token.expiresAt.getTime() / 1000),
    scope: scopes.join(' '),
  }
  if (token.details === null) return claims
  const { added } = token.details
  const isForThis = added && added.for === sha256(buildTokenAccessKey(scopes, server.audience))
  // Application claims come first, so that they can never override the server's claims.
  return { ...(isForThis && added.claims), ...claims, ...claimsOfDetails(token.details) }
}

/**
 * Joins the scopes and the audience of an access token into one text. Used to find out whether two
 * access tokens of a grant have the same access.
 */
export function buildTokenAccessKey(
  scopes: readonly string[],
  audience: string | readonly string[],
): string {
  return `${scopes.join(' ')}\n${[audience].flat().join(' ')}`
}

/**
 * Claims that have, or may get, a meaning in access tokens and introspection responses (RFC 7519,
 * 7662, 8693, 9068, 9449, 9470). The application cannot add them.
 */
const RESERVED: ReadonlySet<string> = new Set([
  ...['iss', 'sub', 'aud', 'exp', 'nbf', 'iat', 'jti', 'scope', 'client_id', 'azp', 'nonce', 'sid'],
  ...['act', 'may_act', 'parents', 'cnf', 'auth_time', 'acr', 'amr', 'authorization_details'],
  ...['active', 'token_type', 'username', 'typ', 'events', 'token_introspection', '__proto__'],
  // A member of our own introspection responses.
  'withheld_scope',
])

export function isReservedClaim(name: string): boolean {
  return RESERVED.has(name)
}

/** Returns the claims that the application has added to a token. */
export function pickAddedClaims(claims: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(claims).filter(([name]) => !RESERVED.has(name)))
}

type ClaimsOfDetails = Pick<AccessTokenClaims, 'act' | 'parents' | 'cnf' | 'auth_time' | 'acr'>

function claimsOfDetails(details: GrantDetails): ClaimsOfDetails {
  const { parents, actor, dpopKey, saysSignIn, signIn } = details
  return {
    ...(actor && { act: actor }),
    ...(parents && { parents }),
    ...(dpopKey !== undefined && { cnf: { jkt: dpopKey } }),
    ...(saysSignIn && signIn?.at !== undefined && { auth_time: signIn.at }),
    ...(saysSignIn && signIn?.acr !== undefined && { acr: signIn.acr }),
  }
}

/** Whether a token is bound to a key. */
export function isBoundToKey({ cnf }: Pick<AccessTokenClaims, 'cnf'>): boolean {
  return cnf !== undefined
}

/** Whether `cnf` is absent or understood. An unknown confirmation must not be treated as absent. */
function isConfirmation(value: unknown): boolean {
  if (value === undefined) return true
  return (
    typeof value === 'object' && value !== null && 'jkt' in value && typeof value.jkt === 'string'
  )
}

/**
 * Returns the id of the stored token from the `jti` of an access token: the part before the dot.
 */
export function parseTokenId(jti: string): string {
  const dot = jti.indexOf('.')
  return dot < 0 ? jti : jti.slice(0, dot)
}

function isAudience(value: unknown): boolean {
  if (typeof value === 'string') return true
  return Array.isArray(value) && value.every((each) => typeof each === 'string')
}

/** Whether a token is for this API. */
export function isForAudience(audience: string, { aud }: Pick<AccessTokenClaims, 'aud'>): boolean {
  return typeof aud === 'string' ? aud === audience : aud.includes(audience)
}

/**
 * Whether `parents` is absent or valid in every part. An unreadable value must not be treated as
 * absent.
 */
function isParents(value: unknown): boolean {
  if (value === undefined) return true
  return Array.isArray(value) && value.every((each) => isText(each?.jti) && isText(each?.client_id))
}

const isText = (value: unknown): boolean => typeof value === 'string'

/** Parses the payload of a token. Returns `null` if a claim is missing or has the wrong type. */
export function parseClaims(value: unknown): AccessTokenClaims | null {
  if (typeof value !== 'object' || value === null) return null
  const claims = value as Record<string, unknown>
  const texts = ['iss', 'sub', 'client_id', 'jti', 'scope'] as const
  const times = ['iat', 'exp'] as const
  if (!texts.every((name) => typeof claims[name] === 'string')) return null
  if (!isAudience(claims.aud)) return null
  if (!isParents(claims.parents) || !isConfirmation(claims.cnf)) return null
  if (!times.every((name) => Number.isFinite(claims[name]))) return null
  return claims as unknown as AccessTokenClaims
}

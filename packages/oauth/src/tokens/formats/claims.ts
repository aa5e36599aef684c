import { sha256 } from '../../crypto.ts'
import type { Actor, GrantDetails, ParentToken } from '../../storage/details.ts'
import type { Token } from '../../storage/records.ts'
import { jtiOf } from '../../storage/rotated-token.ts'

/** RFC 9068 §2.2. */
export interface AccessTokenClaims {
  /** Who made it: the issuer. */
  readonly iss: string
  /** For whom: `user:` or `client:` and an id. */
  readonly sub: string
  /** For which API, or APIs. */
  readonly aud: string | readonly string[]
  /** Who was given it. */
  readonly client_id: string
  /** Its id: that of the row, a dot, and how often it was refreshed. */
  readonly jti: string
  /** When it was made, in seconds. */
  readonly iat: number
  /** When it expires, in seconds. */
  readonly exp: number
  /** What it may do, with blanks between. */
  readonly scope: string
  /** RFC 8693 §4.1: who acts for the person, where somebody does. */
  readonly act?: Actor
  /** Of an exchanged token: all that it comes from. It ends with each of them. */
  readonly parents?: readonly ParentToken[]
  /** RFC 9449 §6.1: only whoever holds the key with this thumbprint may use it. */
  readonly cnf?: { readonly jkt: string }
  /** RFC 9470 §6: when the person had signed in, in seconds. */
  readonly auth_time?: number
  /** RFC 9470 §6: how well that was proven. */
  readonly acr?: string
}

/** Typed, so that a client acting for itself is never taken for the user with the same id. */
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

/** What a token has at one time of its life. */
type Issue = Pick<
  Token,
  'id' | 'clientId' | 'userId' | 'generation' | 'issuedAt' | 'expiresAt' | 'details'
>

export function buildClaims(
  token: Issue,
  scopes: readonly string[],
  server: { readonly issuer: string; readonly audience: string | readonly string[] },
): AccessTokenClaims {
  const claims = {
    iss: server.issuer,
    sub: formatSubject(token),
    aud: server.audience,
    client_id: token.clientId,
    jti: jtiOf(token),
    iat: Math.floor(token.issuedAt.getTime() / 1000),
    exp: Math.floor(token.expiresAt.getTime() / 1000),
    scope: scopes.join(' '),
  }
  if (token.details === null) return claims
  const { added } = token.details
  const isForThis = added && added.for === sha256(shareName(scopes, server.audience))
  // The application's come first, so that they can never take the place of ours.
  return { ...(isForThis && added.claims), ...claims, ...claimsOfDetails(token.details) }
}

/** What one access token of a row is for, as text. */
export function shareName(scopes: readonly string[], audience: string | readonly string[]): string {
  return `${scopes.join(' ')}\n${[audience].flat().join(' ')}`
}

/**
 * Names that stand for something in access tokens and introspection responses (RFC 7519, 7662, 8693, 9068, 9449, 9470),
 * or will: the application can add none of them.
 */
const RESERVED: ReadonlySet<string> = new Set([
  ...['iss', 'sub', 'aud', 'exp', 'nbf', 'iat', 'jti', 'scope', 'client_id', 'azp', 'nonce', 'sid'],
  ...['act', 'may_act', 'parents', 'cnf', 'auth_time', 'acr', 'amr', 'authorization_details'],
  ...['active', 'token_type', 'username', 'typ', 'events', 'token_introspection', '__proto__'],
])

export function isReservedClaim(name: string): boolean {
  return RESERVED.has(name)
}

/** The claims of a token that are the application's. */
export function addedClaims(claims: object): Readonly<Record<string, unknown>> {
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

/** Whether only the holder of a key may use it. */
export function isBound({ cnf }: Pick<AccessTokenClaims, 'cnf'>): boolean {
  return cnf !== undefined
}

/** A confirmation that we do not understand must not count as none. */
function isConfirmation(value: unknown): boolean {
  if (value === undefined) return true
  return (
    typeof value === 'object' && value !== null && 'jkt' in value && typeof value.jkt === 'string'
  )
}

/** Every token issued from one row shares its fate; the part after the dot counts refreshes. */
export function tokenIdOf(jti: string): string {
  const dot = jti.indexOf('.')
  return dot < 0 ? jti : jti.slice(0, dot)
}

function isAudience(value: unknown): boolean {
  if (typeof value === 'string') return true
  return Array.isArray(value) && value.every((each) => typeof each === 'string')
}

/** Whether a token is for this API. */
export function isFor(audience: string, { aud }: Pick<AccessTokenClaims, 'aud'>): boolean {
  return typeof aud === 'string' ? aud === audience : aud.includes(audience)
}

/** Absent, or right in every part: one that cannot be read must not look like none. */
function isParents(value: unknown): boolean {
  if (value === undefined) return true
  return Array.isArray(value) && value.every((each) => isText(each?.jti) && isText(each?.client_id))
}

const isText = (value: unknown): boolean => typeof value === 'string'

/** `unknown` from a token's payload to claims, or null: wrong types never reach a decision. */
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

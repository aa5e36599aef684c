import { findLaterDate } from '../clock.ts'
import type { NewRevocation, Token, TokenRotation } from './records.ts'

/** The fields of a token that rotating it does not change. */
export type FieldsKeptByRotation = Pick<
  Token,
  | 'userId'
  | 'grantType'
  | 'name'
  | 'scopes'
  | 'previousExpiresAt'
  | 'lateGeneration'
  | 'liveUntil'
  | 'createdAt'
  | 'lastUsedAt'
  | 'details'
>

/**
 * Builds the stored token as it is after a successful rotation, from its unchanged fields and the
 * new values.
 */
export function createRotatedToken(
  unchangedFields: FieldsKeptByRotation,
  rotation: TokenRotation,
): Token {
  const { id, clientId, clientSecretVersion, issuedAt, expiresAt, refreshExpiresAt } = rotation
  return {
    id,
    clientId,
    userId: unchangedFields.userId,
    grantType: unchangedFields.grantType,
    name: unchangedFields.name,
    scopes: unchangedFields.scopes,
    generation: rotation.nextGeneration,
    clientSecretVersion,
    issuedAt,
    expiresAt,
    refreshExpiresAt,
    previousExpiresAt: unchangedFields.previousExpiresAt,
    lateGeneration: unchangedFields.lateGeneration,
    // Never moves backwards: access tokens of older generations may still be valid.
    liveUntil: findLaterDate(unchangedFields.liveUntil, findLaterDate(expiresAt, refreshExpiresAt)),
    revokedAt: null,
    createdAt: unchangedFields.createdAt,
    lastUsedAt: unchangedFields.lastUsedAt,
    details: rotation.details ?? unchangedFields.details,
  }
}

/**
 * Builds the `jti` of access tokens: the id of the stored token, a dot, and its generation. The
 * revocation feed revokes access tokens of one generation by this id.
 */
export function formatTokenId({ id, generation }: Pick<Token, 'id' | 'generation'>): string {
  return `${id}.${generation}`
}

/**
 * Builds the entries that announce the end of the replaced access tokens, if the rotation has
 * `endsOldAccessTokens`.
 */
export function listRevocationsByRotation(
  rotation: TokenRotation,
  { liveUntil }: Token,
): NewRevocation[] {
  const { id, generation, nextGeneration, issuedAt: at, endsOldAccessTokens } = rotation
  if (!endsOldAccessTokens) return []
  // Usually one entry; several if a failover had lost rotations.
  return Array.from({ length: nextGeneration - generation }, (_, step) => ({
    kind: 'token',
    subject: formatTokenId({ id, generation: generation + step }),
    at,
    until: liveUntil,
  }))
}

import { later } from '../clock.ts'
import type { Rotation, Token } from './repositories.ts'

/** What a rotation does not say. */
export type Kept = Pick<
  Token,
  | 'userId'
  | 'grantType'
  | 'name'
  | 'scopes'
  | 'previousExpiresAt'
  | 'lateGeneration'
  | 'liveUntil'
  | 'createdAt'
>

/**
 * The next generation of a token whose rotation has been found to fit. Field by field: spreading the
 * old one takes fifteen times as long, at every refresh.
 */
export function rotatedToken(kept: Kept, rotation: Rotation): Token {
  const { id, clientId, clientSecretVersion, issuedAt, expiresAt, refreshExpiresAt } = rotation
  return {
    id,
    clientId,
    userId: kept.userId,
    grantType: kept.grantType,
    name: kept.name,
    scopes: kept.scopes,
    generation: rotation.nextGeneration,
    clientSecretVersion,
    issuedAt,
    expiresAt,
    refreshExpiresAt,
    previousExpiresAt: kept.previousExpiresAt,
    lateGeneration: kept.lateGeneration,
    // Never earlier than before: access tokens of older generations may still be alive.
    liveUntil: later(kept.liveUntil, later(expiresAt, refreshExpiresAt)),
    revokedAt: null,
    createdAt: kept.createdAt,
  }
}

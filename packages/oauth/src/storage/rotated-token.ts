import { later } from '../clock.ts'
import type { NewRevocation, Rotation, Token } from './records.ts'

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
  | 'details'
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
    details: rotation.details ?? kept.details,
  }
}

/** What the access tokens of one generation are called; the feed ends them by this name. */
export function jtiOf({ id, generation }: Pick<Token, 'id' | 'generation'>): string {
  return `${id}.${generation}`
}

/** The news that a rotation with `endsBefore` appends: the access tokens it replaces are over. */
export function endedByRotation(rotation: Rotation, { liveUntil }: Token): NewRevocation[] {
  const { id, generation, nextGeneration, issuedAt: at, endsBefore } = rotation
  if (!endsBefore) return []
  // Usually one; several when a failover had lost rotations.
  return Array.from({ length: nextGeneration - generation }, (_, step) => ({
    kind: 'token',
    subject: jtiOf({ id, generation: generation + step }),
    at,
    until: liveUntil,
  }))
}

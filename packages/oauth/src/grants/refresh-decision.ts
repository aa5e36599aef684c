import { CLOCK_SKEW } from '../clock.ts'
import type { Client, Token } from '../storage/records.ts'

/**
 * Period, in milliseconds, in which a repeat always returns the same successor: the response was
 * lost, or two tabs refreshed at once.
 */
export const REPEAT_WINDOW = 10_000

/** How long after its use a refresh token may still be repeated late, in milliseconds. */
export interface LateWindows {
  readonly confidential: number
  readonly public: number
}

export interface Presented {
  /** Generation of the presented refresh token, whose signature is valid. */
  readonly generation: number
  /** The client, already authenticated. */
  readonly client: Client
  readonly row: Token | null
  readonly now: Date
  readonly late: LateWindows
  /** Whether a concurrent request changed the row since this request first read it. */
  readonly overtaken: boolean
}

export type RefreshDecision =
  /** The token is the current one. */
  | 'rotate'
  /** The token was used within `REPEAT_WINDOW`: return the same successor again. */
  | 'repeat'
  /** The token was used earlier: the response was lost, or it was copied. Record it, emit an event. */
  | 'repeat late'
  /** The row is older than the token, so the database has lost the last refresh. */
  | 'move forward'
  /** The token does not rotate: issue another access token for it. */
  | 'renew'
  /** Two parties use this grant, so revoke it. */
  | 'end the family'
  | 'refuse'

/**
 * Decides what happens to a genuine refresh token. Contains the whole rule
 * (docs/decisions/0013-late-repeats.md); the caller writes only if the row has not changed since it
 * was read.
 */
export function decideRefresh(presented: Presented): RefreshDecision {
  const { generation, client, row, now, late } = presented
  if (!row || !isAlive(row, client, now)) return 'refuse'
  if (row.details?.keepsRefreshToken) return decideNonRotating(presented, row)
  if (generation === row.generation) return 'rotate'
  if (generation > row.generation) return 'move forward'
  if (generation < row.generation - 1) return 'end the family'
  const age = now.getTime() - row.issuedAt.getTime()
  // A clock that was set back must not keep the window open.
  if (age < -CLOCK_SKEW) return 'end the family'
  if (age <= REPEAT_WINDOW) return 'repeat'
  const window = client.confidential ? late.confidential : late.public
  if (age > window || hasExpired(row.previousExpiresAt, now)) return 'end the family'
  // If a thief and the owner take turns, one of them is late in every generation.
  if (row.lateGeneration === row.generation - 1) return 'end the family'
  return 'repeat late'
}

/**
 * Decides for a key-bound token that does not rotate (FAPI 2.0). Using it repeatedly is no sign of
 * theft (threat T6).
 */
function decideNonRotating({ generation, now, overtaken }: Presented, row: Token): RefreshDecision {
  if (generation !== 0) return 'refuse'
  // Several processes of one client share the token and may refresh at the same moment.
  const age = now.getTime() - row.issuedAt.getTime()
  return overtaken && age <= REPEAT_WINDOW ? 'repeat' : 'renew'
}

/** Whether this client, with its current secret, can still refresh the grant. */
export function isAlive(row: Token, client: Client, now: Date): boolean {
  return (
    row.clientId === client.id &&
    row.clientSecretVersion === client.secretVersion &&
    row.revokedAt === null &&
    !hasExpired(row.refreshExpiresAt, now)
  )
}

/** Whether the date has passed. An unknown date counts as passed. */
function hasExpired(expiry: Date | null, now: Date): boolean {
  return expiry === null || expiry.getTime() <= now.getTime()
}

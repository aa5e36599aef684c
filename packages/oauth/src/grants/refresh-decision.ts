import { CLOCK_SKEW_MS } from '../clock.ts'
import type { Client, Token } from '../storage/records.ts'

/**
 * Time in milliseconds after the first use of a refresh token in which presenting it again returns
 * the same new token. For lost responses, and for tabs that refresh at the same time.
 */
export const REPEAT_WINDOW_MS = 10_000

/**
 * How long after its first use a refresh token may still be presented again (a late repeat), for
 * confidential and for public clients, in milliseconds.
 */
export interface LateRepeatWindows {
  readonly confidential: number
  readonly public: number
}

export interface PresentedRefreshToken {
  /** Generation (number of refreshes) in the presented refresh token. */
  readonly generation: number
  /** The authenticated client that presents the refresh token. */
  readonly client: Client
  readonly row: Token | null
  readonly now: Date
  readonly late: LateRepeatWindows
  /** Whether a concurrent request changed the stored token since this request first read it. */
  readonly overtaken: boolean
}

export type RefreshDecision =
  /** The token is the current one. */
  | 'rotate'
  /** The token was used within `REPEAT_WINDOW_MS`: return the same successor again. */
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
 * Decides what happens when a client presents a genuine refresh token, such as rotating it or
 * revoking the grant. The rule is explained in docs/decisions/0013-late-repeats.md.
 */
export function decideRefresh(presented: PresentedRefreshToken): RefreshDecision {
  const { generation, client, row, now, late } = presented
  if (!row || !isRefreshableToken(row, client, now)) return 'refuse'
  if (row.details?.keepsRefreshToken) return decideNonRotating(presented, row)
  if (generation === row.generation) return 'rotate'
  if (generation > row.generation) return 'move forward'
  if (generation < row.generation - 1) return 'end the family'
  const age = now.getTime() - row.issuedAt.getTime()
  // A clock that was set back must not keep the window open.
  if (age < -CLOCK_SKEW_MS) return 'end the family'
  if (age <= REPEAT_WINDOW_MS) return 'repeat'
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
function decideNonRotating(
  { generation, now, overtaken }: PresentedRefreshToken,
  row: Token,
): RefreshDecision {
  if (generation !== 0) return 'refuse'
  // Several processes of one client share the token and may refresh at the same moment.
  const age = now.getTime() - row.issuedAt.getTime()
  return overtaken && age <= REPEAT_WINDOW_MS ? 'repeat' : 'renew'
}

/**
 * Whether this client can still refresh this token: it is the client of the token, its secret was
 * not rotated, and the token is neither revoked nor expired.
 */
export function isRefreshableToken(row: Token, client: Client, now: Date): boolean {
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

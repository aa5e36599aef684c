import { CLOCK_SKEW } from '../clock.ts'
import type { Client, Token } from '../storage/records.ts'

/** In milliseconds. A lost reply or two tabs at once: until then a repeat gets the same successor. */
export const REPEAT_WINDOW = 10_000

/** How long after its use, in milliseconds, a refresh token may come again late. */
export interface LateWindows {
  readonly confidential: number
  readonly public: number
}

export interface Presented {
  /** Of the refresh token, which is genuine. */
  readonly generation: number
  /** Authenticated. */
  readonly client: Client
  readonly row: Token | null
  readonly now: Date
  readonly late: LateWindows
  /** Whether another request has changed the row since this one came. */
  readonly overtaken: boolean
}

export type RefreshDecision =
  /** It is the present one. */
  | 'rotate'
  /** It was used a moment ago: the same successor once more. */
  | 'repeat'
  /** The same, much later: our reply was lost, or somebody has a copy. Written down and told. */
  | 'repeat late'
  /** The row is older than the token: the database lost the last refresh. */
  | 'move forward'
  /** It never changes: another access token for it. */
  | 'renew'
  /** Two parties use this grant. */
  | 'end the family'
  | 'refuse'

/**
 * What happens to a genuine refresh token: the whole rule (docs/decisions/0013-late-repeats.md). The writes
 * carry it out only while the row is still as it was read here.
 */
export function decideRefresh(presented: Presented): RefreshDecision {
  const { generation, client, row, now, late } = presented
  if (!row || !isAlive(row, client, now)) return 'refuse'
  if (row.details?.keepsRefreshToken) return decideKept(presented, row)
  if (generation === row.generation) return 'rotate'
  if (generation > row.generation) return 'move forward'
  if (generation < row.generation - 1) return 'end the family'
  const age = now.getTime() - row.issuedAt.getTime()
  // A clock that went back must not keep a window open.
  if (age < -CLOCK_SKEW) return 'end the family'
  if (age <= REPEAT_WINDOW) return 'repeat'
  const window = client.confidential ? late.confidential : late.public
  if (age > window || hasExpired(row.previousExpiresAt, now)) return 'end the family'
  // A thief who takes turns with the owner makes one of the two come late in every generation.
  if (row.lateGeneration === row.generation - 1) return 'end the family'
  return 'repeat late'
}

/** Of a token that a key protects and that stays the same (FAPI 2.0): no use of it is one too many (threat T6). */
function decideKept({ generation, now, overtaken }: Presented, row: Token): RefreshDecision {
  if (generation !== 0) return 'refuse'
  // Processes of one client share it, and many may come at the same moment.
  const age = now.getTime() - row.issuedAt.getTime()
  return overtaken && age <= REPEAT_WINDOW ? 'repeat' : 'renew'
}

/** Whether anything of the grant can be refreshed, by this client with the secret it has now. */
export function isAlive(row: Token, client: Client, now: Date): boolean {
  return (
    row.clientId === client.id &&
    row.clientSecretVersion === client.secretVersion &&
    row.revokedAt === null &&
    !hasExpired(row.refreshExpiresAt, now)
  )
}

/** Where nothing is known, nothing is alive. */
function hasExpired(expiry: Date | null, now: Date): boolean {
  return expiry === null || expiry.getTime() <= now.getTime()
}

import { setImmediate as yieldToOthers } from 'node:timers/promises'
import type { ServiceDatabase } from '../../storage/tables.ts'
import { readHead } from './chain.ts'
import { createSeals, hashChainedEntry, type StoredAuditEntry, toChainedEntry } from './entry.ts'
import { hashPersonalData } from './log.ts'
import { listChained, readPersonal } from './reader.ts'

/** A chained entry's number and hash, which a caller can note for a later verification. */
export interface ChainLink {
  readonly number: number
  readonly hash: string
}

/**
 * A kind of damage to the chain:
 * - `missing`: there is no entry with this number. It was removed, or the end of the chain was cut
 * off.
 * - `not-chained`: the service did not give the entry this number.
 * - `changed`: the entry, its number or the previous entry differs from the state in which it was
 * chained.
 * - `forged`: the entry was not written by the service.
 * - `personal-data`: the personal data differs from the recorded data.
 * - `other-hash`: the entry's hash differs from the hash that the caller noted.
 */
export type ChainBreakKind =
  | 'missing'
  | 'not-chained'
  | 'changed'
  | 'forged'
  | 'personal-data'
  | 'other-hash'

/** The first place where the log differs from what the service wrote. */
export interface ChainBreak {
  readonly kind: ChainBreakKind
  /** The entry number at which the chain breaks. */
  readonly number: number
  /** Id of the entry at this place. `null` if there is none. */
  readonly entryId: string | null
}

export interface AuditVerification {
  /** The first break of the chain. `null` if the chain is intact. */
  readonly firstBreak: ChainBreak | null
  /** Number of entries that were checked. */
  readonly checked: number
  /** The last intact entry. Keep it outside the database, for the next verification. */
  readonly last: ChainLink | null
  /** Whether the end of the chain was reached. If not, continue from `last`. */
  readonly isComplete: boolean
  /** Number of entries whose seal needs a secret that is no longer configured. */
  readonly unknownSeals: number
  /** Number of entries that are not chained yet. */
  readonly waiting: number
}

export interface VerifyOptions {
  readonly database: ServiceDatabase
  /** Secrets of the service, present and former. */
  readonly secrets: readonly string[]
  /**
   * An entry up to which the chain is known to be intact. `null` starts at the first entry.
   * @default null
   */
  readonly from?: ChainLink | null
  /**
   * An entry that the chain must contain, such as the newest one that a receiver of the stream
   * noted.
   */
  readonly known?: ChainLink | null
  /** Largest number of entries to check. @default all */
  readonly limit?: number
}

const PAGE = 500

/**
 * Reads the chain page by page, and compares every entry with its hash, its seal and its personal
 * data. An attacker who can write to the database, but lacks the secret, cannot add, change, move
 * or remove an entry unnoticed. A cut-off end is detected only if the caller passes an entry that
 * it noted (`known`).
 */
export async function verifyAudit(options: VerifyOptions): Promise<AuditVerification> {
  const { from = null, known = null, limit = Number.POSITIVE_INFINITY, database } = options
  const seals = createSeals(options.secrets)
  let last: ChainLink | null = null
  let checked = 0
  let unknownSeals = 0
  const finish = async (
    firstBreak: ChainBreak | null,
    isComplete: boolean,
  ): Promise<AuditVerification> => {
    const rows = await database.kysely
      .selectFrom('audit_entries')
      .select((eb) => eb.fn.countAll().as('count'))
      .where('number', 'is', null)
      .execute()
    const waiting = Number(rows[0]?.count ?? 0)
    return { firstBreak, checked, last, isComplete, unknownSeals, waiting }
  }

  for (;;) {
    const start: number | null = last ? last.number + 1 : (from?.number ?? null)
    const entries = await listChained(database, { from: start, limit: PAGE })
    const personal = await readPersonal(database, entries)
    for (const entry of entries) {
      const expected: number = last ? last.number + 1 : (from?.number ?? 1)
      const place = { number: expected, entryId: entry.id }
      const number = Number(entry.number)
      if (number !== expected) {
        const isGap = Number.isSafeInteger(number) && number > expected
        return finish(
          isGap ? { ...place, entryId: null, kind: 'missing' } : { ...place, kind: 'not-chained' },
          false,
        )
      }
      const isStart = from !== null && last === null
      if (isStart) {
        // What is before it is not read, so its own hash is compared only.
        if (entry.hash !== from.hash) return finish({ ...place, kind: 'other-hash' }, false)
      } else {
        const kind = findBreak(entry, last?.hash ?? null)
        if (kind !== null) return finish({ ...place, kind }, false)
        const seal = seals.checkHash(entry.seal, String(entry.hash))
        if (seal === 'invalid') return finish({ ...place, kind: 'forged' }, false)
        if (seal === 'unknown') unknownSeals += 1
        const isAsRecorded = (personal.get(entry.id) ?? []).every((data) =>
          entry.commitments.includes(hashPersonalData(data)),
        )
        if (!isAsRecorded) return finish({ ...place, kind: 'personal-data' }, false)
        checked += 1
      }
      const hash = String(entry.hash)
      if (known?.number === number && known.hash !== hash) {
        return finish({ ...place, kind: 'other-hash' }, false)
      }
      last = { number, hash }
      if (checked >= limit) return finish(null, false)
    }
    if (entries.length < PAGE) break
    await yieldToOthers()
  }
  const end = last as ChainLink | null
  const mustExist = Math.max(known?.number ?? 0, from?.number ?? 0)
  if (mustExist > (end?.number ?? 0)) {
    return finish(
      { kind: 'missing', number: (end?.number ?? (from?.number ?? 1) - 1) + 1, entryId: null },
      true,
    )
  }
  return finish(null, true)
}

function findBreak(
  entry: StoredAuditEntry,
  previousHash: string | null,
): 'not-chained' | 'changed' | null {
  const { number, chainedAt, hash } = entry
  if (number === null || chainedAt === null || hash === null) return 'not-chained'
  return hashChainedEntry(toChainedEntry({ ...entry, number, chainedAt }, previousHash)) === hash
    ? null
    : 'changed'
}

/**
 * Reads the newest link of the chain, to keep outside the database. `null` if nothing is chained
 * yet.
 */
export async function readLink(
  database: ServiceDatabase,
): Promise<(ChainLink & { readonly chainedAt: Date }) | null> {
  const head = await readHead(database)
  if (!head) return null
  const { number, hash, chained_at } = head
  return { number, hash: hash ?? '', chainedAt: new Date(Number(chained_at ?? 0)) }
}

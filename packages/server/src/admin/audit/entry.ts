import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { auditTable, type ServiceTables } from '../../storage/tables.ts'
import { canonicalJson } from './canonical.ts'

/** An entry as it is stored. */
export type StoredEntry = ReturnType<typeof auditTable.fromRow>

/** The members of an entry that its writer knows. */
export type WrittenEntry = Omit<StoredEntry, 'seal' | 'number' | 'chainedAt' | 'hash'>

/** Reads an entry from its row. Never throws, even if the row was forged. */
export function readEntry(row: ServiceTables['audit_entries']): StoredEntry {
  const details = parseObject(row.details) ?? { unreadable: row.details }
  const commitments = parseObject(row.commitments)
  return auditTable.fromRow({
    ...row,
    details: JSON.stringify(details),
    commitments: JSON.stringify(Array.isArray(commitments) ? commitments : []),
  })
}

/** Parses JSON that is an object or a list. `null` if it is anything else. */
export function parseObject(text: string): object | null {
  try {
    const parsed: unknown = JSON.parse(text)
    return typeof parsed === 'object' ? parsed : null
  } catch {
    return null
  }
}

/** Formats a date, which a forged row may lack. */
export function isoOf(date: Date): string {
  return Number.isNaN(date.getTime()) ? 'invalid' : date.toISOString()
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}

/** An entry in the chain, as its hash covers it and as it leaves the service. */
export interface ChainedEntry extends ReturnType<typeof contentOf> {
  /** Position in the chain, from 1. */
  readonly number: number
  readonly chained_at: string
  readonly seal: string
  /** Hash of the entry before it. `null` for the first. */
  readonly previous_hash: string | null
}

/** The content of an entry, in the form that is sealed, hashed and sent. */
export function contentOf(entry: WrittenEntry) {
  return {
    id: entry.id,
    at: isoOf(entry.at),
    actor: { kind: entry.actorKind, id: entry.actorId },
    door: entry.door,
    operation: entry.operation,
    outcome: entry.outcome,
    subject: entry.subjectKind === null ? null : { kind: entry.subjectKind, id: entry.subjectId },
    owner: entry.ownerId,
    details: entry.details,
    intent_id: entry.intentId,
    request_id: entry.requestId,
    commitments: entry.commitments,
  }
}

/** Puts an entry in its place in the chain. */
export function chainedEntry(
  entry: StoredEntry & { readonly number: number; readonly chainedAt: Date },
  previousHash: string | null,
): ChainedEntry {
  return {
    ...contentOf(entry),
    seal: entry.seal,
    number: entry.number,
    chained_at: isoOf(entry.chainedAt),
    previous_hash: previousHash,
  }
}

/** Hashes a chained entry. Anyone can repeat it: SHA-256 of the canonical JSON (RFC 8785). */
export function hashOf(entry: ChainedEntry): string {
  return sha256(canonicalJson(entry))
}

/** How a seal was judged. `unknown`: its secret is no longer configured. */
export type SealState = 'valid' | 'invalid' | 'unknown'

/** Seals entries with a secret of the service, so that write access to the table is not enough. */
export interface Seals {
  create(entry: WrittenEntry): string
  check(entry: StoredEntry): SealState
}

/** Creates the seals. The first secret seals, and all are accepted. */
export function createSeals(secrets: readonly string[]): Seals {
  const keys = secrets.map((secret) => {
    const key = createHmac('sha256', secret).update('tollgate audit log').digest()
    return { name: sha256(key.toString('base64url')).slice(0, 8), key }
  })
  const tagOf = (key: Buffer, entry: WrittenEntry) =>
    createHmac('sha256', key)
      .update(canonicalJson(contentOf(entry)))
      .digest('base64url')
  return {
    create(entry) {
      const [first] = keys
      if (!first) throw new TypeError('The audit log needs a secret')
      return `${first.name}.${tagOf(first.key, entry)}`
    },
    check(entry) {
      const [name, tag = ''] = entry.seal.split('.')
      const known = keys.find((each) => each.name === name)
      if (!known) return /^[\w-]{8}\.[\w-]{43}$/.test(entry.seal) ? 'unknown' : 'invalid'
      const expected = Buffer.from(tagOf(known.key, entry))
      const given = Buffer.from(tag)
      const isEqual = given.length === expected.length && timingSafeEqual(given, expected)
      return isEqual ? 'valid' : 'invalid'
    },
  }
}

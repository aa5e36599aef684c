import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { auditTable, type ServiceTables } from '../../storage/tables.ts'
import { formatCanonicalJson } from './canonical.ts'

/** An entry of the audit log as it is stored. */
export type StoredAuditEntry = ReturnType<typeof auditTable.fromRow>

/** The members of an entry before it is sealed and chained. */
export type UnsealedAuditEntry = Omit<StoredAuditEntry, 'seal' | 'number' | 'chainedAt' | 'hash'>

/** Reads an entry from its row. Never throws, even if the row was forged. */
export function readEntry(row: ServiceTables['audit_entries']): StoredAuditEntry {
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

/**
 * Formats a date as ISO 8601. Returns `invalid` for an invalid date, which a forged row can
 * contain.
 */
export function formatIsoDate(date: Date): string {
  return Number.isNaN(date.getTime()) ? 'invalid' : date.toISOString()
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}

/** A chained entry, in the form that is hashed and sent to receivers. */
export interface ChainedAuditEntry extends ReturnType<typeof toSealedContent> {
  /** Position in the chain, from 1. */
  readonly number: number
  readonly chained_at: string
  /** Hash of the previous entry. `null` for the first entry. */
  readonly previous_hash: string | null
}

/** The content of an entry, in the form in which it is sealed, hashed and sent. */
export function toSealedContent(entry: UnsealedAuditEntry) {
  return {
    id: entry.id,
    at: formatIsoDate(entry.at),
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

/** Adds the position in the chain and the previous entry's hash to an entry. */
export function toChainedEntry(
  entry: StoredAuditEntry & { readonly number: number; readonly chainedAt: Date },
  previousHash: string | null,
): ChainedAuditEntry {
  return {
    ...toSealedContent(entry),
    number: entry.number,
    chained_at: formatIsoDate(entry.chainedAt),
    previous_hash: previousHash,
  }
}

/**
 * Returns the SHA-256 hash of a chained entry in canonical JSON (RFC 8785), which anyone can
 * recompute.
 */
export function hashChainedEntry(entry: ChainedAuditEntry): string {
  return sha256(formatCanonicalJson(entry))
}

/**
 * Result of checking a seal. `unknown`: the secret that sealed the entry is no longer configured.
 */
export type SealState = 'valid' | 'invalid' | 'unknown'

/**
 * Seals entries with a secret of the service, so that write access to the table is not enough to
 * forge one. The writer of an entry seals its content. The worker that chains the entry checks this
 * seal, and replaces it by a seal of the hash, which also covers the place in the chain.
 */
export interface Seals {
  sealContent(entry: UnsealedAuditEntry): string
  checkContent(entry: StoredAuditEntry): SealState
  sealHash(hash: string): string
  checkHash(seal: string, hash: string): SealState
}

/** Creates the seals. The first secret seals new entries; seals of all secrets are accepted. */
export function createSeals(secrets: readonly string[]): Seals {
  const keys = secrets.map((secret) => {
    const key = createHmac('sha256', secret).update('tollgate audit log').digest()
    return { name: sha256(key.toString('base64url')).slice(0, 8), key }
  })
  const tagOf = (key: Buffer, text: string) =>
    createHmac('sha256', key).update(text).digest('base64url')
  const seal = (text: string) => {
    const [first] = keys
    if (!first) throw new TypeError('The audit log needs a secret')
    return `${first.name}.${tagOf(first.key, text)}`
  }
  const check = (given: string, text: string): SealState => {
    const [name, tag = ''] = given.split('.')
    const known = keys.find((each) => each.name === name)
    if (!known) return /^[\w-]{8}\.[\w-]{43}$/.test(given) ? 'unknown' : 'invalid'
    const [actual, expected] = [Buffer.from(tag), Buffer.from(tagOf(known.key, text))]
    const isEqual = actual.length === expected.length && timingSafeEqual(actual, expected)
    return isEqual ? 'valid' : 'invalid'
  }
  const textOf = (entry: UnsealedAuditEntry) =>
    `entry ${formatCanonicalJson(toSealedContent(entry))}`
  return {
    sealContent: (entry) => seal(textOf(entry)),
    checkContent: (entry) => check(entry.seal, textOf(entry)),
    sealHash: (hash) => seal(`chained ${hash}`),
    checkHash: (given, hash) => check(given, `chained ${hash}`),
  }
}

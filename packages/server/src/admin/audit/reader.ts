import { sql } from 'kysely'
import { auditPersonalTable, type ServiceDatabase } from '../../storage/tables.ts'
import type { PublishedAuditEntry } from './chain.ts'
import { parseObject, readEntry, type StoredAuditEntry, toChainedEntry } from './entry.ts'
import { createIdPrefix, type PersonalData } from './log.ts'

/**
 * Selects the entries to read. Only one filter uses an index: the first given one of subject,
 * owner, actor, operation and outcome. The other filters are applied to the entries that it finds.
 */
export interface AuditFilter {
  readonly actor?: { readonly kind: string; readonly id: string } | undefined
  readonly operation?: string | undefined
  readonly subject?: { readonly kind: string; readonly id: string } | undefined
  /** The person or team that the subjects belong to: a user id such as `42`, or `team:7`. */
  readonly owner?: string | undefined
  readonly outcome?: string | undefined
  /** Time of the oldest entry to include. */
  readonly from?: Date | undefined
  /** Entries must be older than this time. */
  readonly to?: Date | undefined
}

/** The personal data of an entry, as far as it has not been deleted. */
export interface EntryPersonalData {
  /** The network address and e-mail address of the actor. */
  readonly actor: { readonly email?: string; readonly address?: string }
  /** Personal data of the subject's owner. */
  readonly subject: Readonly<Record<string, string>>
}

/** An entry of the audit log with its personal data. */
export interface EntryWithPersonalData {
  readonly entry: StoredAuditEntry
  readonly personal: EntryPersonalData
}

/** Maximum number of entries that are examined for one page if some filters cannot use an index. */
export const EXAMINED_ENTRIES = 10_000

/** A part of the audit log's entries that match a filter. */
export interface EntrySlice {
  readonly entries: readonly StoredAuditEntry[]
  /**
   * The id after which the next part begins. `null` for the last part. If several filters are
   * given, a part can have fewer entries than `limit`, or none, although more parts follow.
   */
  readonly next: string | null
}

/**
 * Lists entries, newest first, or oldest first if `after` is given. If several filters are given,
 * examines at most `EXAMINED_ENTRIES` entries.
 */
export async function listEntries(
  database: ServiceDatabase,
  filter: AuditFilter,
  page: {
    readonly limit: number
    readonly before?: string | null
    readonly after?: string | null
    readonly onlyChained?: boolean
  },
): Promise<EntrySlice> {
  const { from, to } = filter
  const { limit, before = null, after, onlyChained = false } = page
  const direction = after === undefined ? 'desc' : 'asc'
  const [narrowest = {}, ...others] = listFilterColumns(filter)
  let range = database.kysely.selectFrom('audit_entries').orderBy('id', direction)
  if (before !== null) range = range.where('id', '<', before)
  if (typeof after === 'string') range = range.where('id', '>', after)
  // Ids begin with the time.
  if (from) range = range.where('id', '>=', createIdPrefix(from))
  if (to) range = range.where('id', '<', createIdPrefix(to))
  for (const [column, value] of Object.entries(narrowest)) {
    range = range.where(sql.ref(column), '=', value)
  }
  let query = range.selectAll().limit(limit + 1)
  let end: string | null = null
  if (others.length > 0) {
    const [last] = await range.select('id').limit(1).offset(EXAMINED_ENTRIES).execute()
    end = last?.id ?? null
  }
  if (end !== null) query = query.where('id', direction === 'desc' ? '>=' : '<=', end)
  if (onlyChained) query = query.where('number', 'is not', null)
  // Hidden from the database, which would otherwise walk the index of a frequent value.
  for (const [column, value] of others.flatMap((columns) => Object.entries(columns))) {
    query = query.where(sql`coalesce(${sql.ref(column)}, '')`, '=', value)
  }
  const found = (await query.execute()).map((row) => readEntry(row))
  const entries = found.slice(0, limit)
  return { entries, next: found.length > limit ? (entries.at(-1)?.id ?? null) : end }
}

/**
 * Returns the columns of each given filter with their values. The filter that usually matches the
 * fewest entries comes first.
 */
function listFilterColumns({ actor, operation, subject, owner, outcome }: AuditFilter) {
  const filters = [
    subject && { subject_kind: subject.kind, subject_id: subject.id },
    owner !== undefined && { owner_id: owner },
    actor && { actor_kind: actor.kind, actor_id: actor.id },
    operation !== undefined && { operation },
    outcome !== undefined && { outcome },
  ]
  return filters.filter((each) => typeof each === 'object')
}

export async function findEntry(
  database: ServiceDatabase,
  id: string,
): Promise<StoredAuditEntry | null> {
  const [row] = await database.kysely
    .selectFrom('audit_entries')
    .selectAll()
    .where('id', '=', id)
    .execute()
  return row ? readEntry(row) : null
}

/** Lists chained entries in the order of the chain. */
export async function listChained(
  database: ServiceDatabase,
  { from, limit }: { readonly from: number | null; readonly limit: number },
): Promise<StoredAuditEntry[]> {
  let query = database.kysely.selectFrom('audit_entries').selectAll().limit(limit)
  query = from === null ? query.where('number', 'is not', null) : query.where('number', '>=', from)
  return (await query.orderBy('number').execute()).map((row) => readEntry(row))
}

/** Reads the personal data of the entries. Returns it by entry id. */
export async function readPersonal(
  database: ServiceDatabase,
  entries: readonly StoredAuditEntry[],
): Promise<Map<string, PersonalData[]>> {
  const found = new Map<string, PersonalData[]>()
  if (entries.length === 0) return found
  const rows = await database.kysely
    .selectFrom('audit_personal')
    .selectAll()
    .where(
      'entry_id',
      'in',
      entries.map(({ id }) => id),
    )
    .execute()
  for (const row of rows) {
    const { entryId, ...data } = auditPersonalTable.fromRow(row)
    found.set(entryId, [...(found.get(entryId) ?? []), data])
  }
  return found
}

/** Adds the personal data to entries of the audit log. */
export async function readEntriesWithPersonalData(
  database: ServiceDatabase,
  entries: readonly StoredAuditEntry[],
): Promise<EntryWithPersonalData[]> {
  const found = await readPersonal(database, entries)
  return entries.map((entry) => ({ entry, personal: mergePersonal(found.get(entry.id) ?? []) }))
}

function mergePersonal(rows: readonly PersonalData[]): EntryPersonalData {
  const merged = { actor: {}, subject: {} }
  for (const { content } of rows) {
    // A forged row may hold anything.
    const { actor, subject }: Partial<EntryPersonalData> = parseObject(content) ?? {}
    Object.assign(merged.actor, actor)
    Object.assign(merged.subject, subject)
  }
  return merged
}

/**
 * Adds the previous entry's hash to each chained entry, so that each entry can be verified alone.
 */
export async function addPreviousHashes(
  database: ServiceDatabase,
  entries: readonly StoredAuditEntry[],
): Promise<PublishedAuditEntry[]> {
  const chained = entries.flatMap((entry) => {
    const { number, chainedAt, hash } = entry
    return number === null || chainedAt === null || hash === null
      ? []
      : [{ ...entry, number, chainedAt, hash }]
  })
  if (chained.length === 0) return []
  const rows = await database.kysely
    .selectFrom('audit_entries')
    .select(['number', 'hash'])
    .where(
      'number',
      'in',
      chained.map(({ number }) => number - 1),
    )
    .execute()
  const hashes = new Map(rows.map(({ number, hash }) => [Number(number), hash]))
  return chained.map((entry) => ({
    ...toChainedEntry(entry, hashes.get(entry.number - 1) ?? null),
    hash: entry.hash,
  }))
}

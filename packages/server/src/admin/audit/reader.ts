import type { Database } from '@tollgate/database'
import { sql } from 'kysely'
import { auditPersonalTable, type ServiceTables } from '../../storage/tables.ts'
import type { PublishedEntry } from './chain.ts'
import { chainedEntry, parseObject, readEntry, type StoredEntry } from './entry.ts'
import { idPrefix, type PersonalData } from './log.ts'

/**
 * Which entries to read. One filter is answered from an index: the first of subject, owner, actor,
 * operation and outcome that is given. The others are compared with the entries found.
 */
export interface AuditFilter {
  readonly actor?: { readonly kind: string; readonly id: string } | undefined
  readonly operation?: string | undefined
  readonly subject?: { readonly kind: string; readonly id: string } | undefined
  /** User id of the account that the subjects belong to. */
  readonly owner?: string | undefined
  readonly outcome?: string | undefined
  /** Earliest time of an entry. */
  readonly from?: Date | undefined
  /** The time before which entries were made. */
  readonly to?: Date | undefined
}

/** The personal data of an entry that was not forgotten. */
export interface Personal {
  /** The address and e-mail address of the actor. */
  readonly actor: { readonly email?: string; readonly address?: string }
  /** Personal data of the subject's owner. */
  readonly subject: Readonly<Record<string, string>>
}

/** An entry with its personal data. */
export interface ReadEntry {
  readonly entry: StoredEntry
  readonly personal: Personal
}

type Tables = Database<ServiceTables>

/** Number of entries that one page examines for filters that no index answers. */
export const EXAMINED_ENTRIES = 10_000

/** A part of the entries that match a filter. */
export interface EntrySlice {
  readonly entries: readonly StoredEntry[]
  /**
   * The id after which the next part begins. `null` on the last one. With several filters, a part
   * can have fewer entries than `limit`, or none, although more parts follow.
   */
  readonly next: string | null
}

/**
 * Lists entries, the newest first, or those after `after` from old to new. Examines a bounded number
 * of entries, no matter how many there are.
 */
export async function listEntries(
  database: Tables,
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
  const [narrowest = {}, ...others] = columnsOf(filter)
  let range = database.kysely.selectFrom('audit_entries').orderBy('id', direction)
  if (before !== null) range = range.where('id', '<', before)
  if (typeof after === 'string') range = range.where('id', '>', after)
  // Ids begin with the time.
  if (from) range = range.where('id', '>=', idPrefix(from))
  if (to) range = range.where('id', '<', idPrefix(to))
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

/** The columns of each filter with their values. The first filter is the one with the fewest entries. */
function columnsOf({ actor, operation, subject, owner, outcome }: AuditFilter) {
  const filters = [
    subject && { subject_kind: subject.kind, subject_id: subject.id },
    owner !== undefined && { owner_id: owner },
    actor && { actor_kind: actor.kind, actor_id: actor.id },
    operation !== undefined && { operation },
    outcome !== undefined && { outcome },
  ]
  return filters.filter((each) => typeof each === 'object')
}

export async function findEntry(database: Tables, id: string): Promise<StoredEntry | null> {
  const [row] = await database.kysely
    .selectFrom('audit_entries')
    .selectAll()
    .where('id', '=', id)
    .execute()
  return row ? readEntry(row) : null
}

/** Lists chained entries in the order of the chain. */
export async function listChained(
  database: Tables,
  { from, limit }: { readonly from: number | null; readonly limit: number },
): Promise<StoredEntry[]> {
  let query = database.kysely.selectFrom('audit_entries').selectAll().limit(limit)
  query = from === null ? query.where('number', 'is not', null) : query.where('number', '>=', from)
  return (await query.orderBy('number').execute()).map((row) => readEntry(row))
}

/** Reads the personal data of these entries, by their ids. */
export async function readPersonal(
  database: Tables,
  entries: readonly StoredEntry[],
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

/** Joins entries with their personal data. */
export async function withPersonal(
  database: Tables,
  entries: readonly StoredEntry[],
): Promise<ReadEntry[]> {
  const found = await readPersonal(database, entries)
  return entries.map((entry) => ({ entry, personal: mergePersonal(found.get(entry.id) ?? []) }))
}

function mergePersonal(rows: readonly PersonalData[]): Personal {
  const merged = { actor: {}, subject: {} }
  for (const { content } of rows) {
    // A forged row may hold anything.
    const { actor, subject }: Partial<Personal> = parseObject(content) ?? {}
    Object.assign(merged.actor, actor)
    Object.assign(merged.subject, subject)
  }
  return merged
}

/** Adds to chained entries the hashes before them, so that each can be verified alone. */
export async function published(
  database: Tables,
  entries: readonly StoredEntry[],
): Promise<PublishedEntry[]> {
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
    ...chainedEntry(entry, hashes.get(entry.number - 1) ?? null),
    hash: entry.hash,
  }))
}

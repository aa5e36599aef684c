import type { Database } from '@tollgate/database'
import { sql } from 'kysely'
import { auditPersonalTable, type ServiceTables } from '../../storage/tables.ts'
import type { PublishedEntry } from './chain.ts'
import { chainedEntry, parseObject, readEntry, type StoredEntry } from './entry.ts'
import { idPrefix, type PersonalData } from './log.ts'

/**
 * Which entries to read. One filter is answered from an index: the first of subject, owner, actor,
 * operation and outcome that is given.
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

/** Lists entries, the newest first, or those after `after` from old to new. */
export async function listEntries(
  database: Tables,
  filter: AuditFilter,
  page: {
    readonly limit: number
    readonly before?: string | null
    readonly after?: string | null
    readonly onlyChained?: boolean
  },
): Promise<StoredEntry[]> {
  const { actor, operation, subject, owner, outcome, from, to } = filter
  const { limit, before = null, after, onlyChained = false } = page
  let query = database.kysely.selectFrom('audit_entries').selectAll().limit(limit)
  query = query.orderBy('id', after === undefined ? 'desc' : 'asc')
  if (before !== null) query = query.where('id', '<', before)
  if (typeof after === 'string') query = query.where('id', '>', after)
  if (onlyChained) query = query.where('number', 'is not', null)
  // The narrowest filter uses its index. The others are hidden from the database, which would
  // otherwise walk the index of a frequent value.
  const filters = [
    subject && { subject_kind: subject.kind, subject_id: subject.id },
    owner !== undefined && { owner_id: owner },
    actor && { actor_kind: actor.kind, actor_id: actor.id },
    operation !== undefined && { operation },
    outcome !== undefined && { outcome },
  ]
  for (const [at, columns] of filters.filter((each) => typeof each === 'object').entries()) {
    for (const [column, value] of Object.entries(columns)) {
      query = query.where(
        at === 0 ? sql.ref(column) : sql`coalesce(${sql.ref(column)}, '')`,
        '=',
        value,
      )
    }
  }
  // Ids begin with the time.
  if (from) query = query.where('id', '>=', idPrefix(from))
  if (to) query = query.where('id', '<', idPrefix(to))
  return (await query.execute()).map((row) => readEntry(row))
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

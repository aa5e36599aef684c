import {
  type Database,
  databaseNow,
  deleteBatch,
  insertIfAbsent,
  requirePrimary,
  selectNotPrimaryReason,
} from '@tollgate/database'
import { sql } from 'kysely'
import { createRandomSecret } from '../../crypto.ts'
import { buildEndedEntry, FEED_RETENTION_MS, type NewRevocation } from '../records.ts'
import type { RevocationRepository } from '../repositories.ts'
import {
  newRevocationColumns,
  type OAuthTables,
  type RevocationRow,
  revocationTable,
} from './tables.ts'

/** Status that the database server reports about itself with every read of the feed. */
interface FeedServer {
  readonly now: number
  readonly secondary: string | null
  readonly beat: number | null
}

/** One row of a read. The columns of the entry are `null` if there are no entries. */
type FeedRow = FeedServer & (RevocationRow | { readonly [Name in keyof RevocationRow]: null })

export function createRevocationRepository(database: Database<OAuthTables>): RevocationRepository {
  // A local database file has no replicas, so every read shows all committed writes.
  const { isLocal } = database.dialect
  // A single statement, so that the entries, the clock and the server's role come from the same
  // server at the same moment.
  const readFrom = database.statement<{ id: number; limit: number }, FeedRow>((db, param) =>
    db
      .selectFrom(
        sql<FeedServer>`(select ${databaseNow(database)} as now,
          ${selectNotPrimaryReason(database, 'oauth_revocations')} as secondary,
          ${isLocal ? sql`null` : currentBeat} as beat)`.as('server'),
      )
      .leftJoin(
        (eb) =>
          eb
            .selectFrom('oauth_revocations')
            .selectAll()
            .where('id', '>=', param('id'))
            .orderBy('id')
            .limit(param('limit'))
            .as('entry'),
        (join) => join.onTrue(),
      )
      .selectAll()
      .orderBy('entry.id'),
  )
  return {
    async readFrom(id, limit) {
      const askedAt = performance.now()
      const { rows } = await readFrom({ id, limit })
      requirePrimary(database, rows[0]?.secondary)
      const now = new Date(Number(rows[0]?.now))
      database.clock.observe(now.getTime(), askedAt)
      const entries = rows.flatMap((row) => (row.id === null ? [] : [revocationTable.fromRow(row)]))
      return { entries, now, beat: rows[0]?.beat ?? null }
    },
    ...(isLocal ? {} : { beat: () => countBeat(database) }),
    append: (revocation) => appendRevocation(database, revocation),
    markEnded: (before) => database.transaction((tx) => summarizeEnded(tx, before)),
  }
}

async function summarizeEnded(
  tx: Database<OAuthTables>,
  expiredBefore: Date,
): Promise<NewRevocation | null> {
  const over = await findPurgeable(tx, expiredBefore)
  if (!over) return null
  const expired = await tx.kysely
    .selectFrom('oauth_revocations')
    .select('id')
    .where('until', '<', over.before)
    .where('id', '<', over.settledId)
    .limit(1)
    .executeTakeFirst()
  if (!expired) return null
  const marks = tx.kysely.selectFrom('oauth_revocations').select('at').where('kind', '=', 'ended')
  const former = (await marks.execute()).map(({ at }) => at)
  const mark = buildEndedEntry(new Date(Math.max(over.before, ...former)))
  await appendRevocation(tx, mark)
  await tx.kysely
    .deleteFrom('oauth_revocations')
    .where('kind', '=', 'ended')
    .where('at', '<=', mark.at.getTime())
    .where('id', '<', over.settledId)
    .execute()
  return mark
}

/**
 * Deletes at most `limit` entries of the revocation feed that no token or reader needs any more.
 * Returns how many were deleted.
 */
export async function purgeRevocations(
  database: Database<OAuthTables>,
  before: Date,
  limit: number,
): Promise<number> {
  const over = await findPurgeable(database, before)
  if (!over) return 0
  return deleteBatch(database, {
    table: 'oauth_revocations',
    key: 'id',
    where: (eb) => eb.and([eb('until', '<', over.before), eb('id', '<', over.settledId)]),
    limit,
  })
}

interface Purgeable {
  /** Entries whose `until` is before this moment may be deleted, in milliseconds. */
  readonly before: number
  /**
   * Id of the newest entry that is older than FEED_RETENTION_MS. Only entries before it may be
   * deleted, because every active reader is already past them.
   */
  readonly settledId: number
}

/**
 * Finds which entries may be purged, by the database's clock, since the clock of a single process
 * may be wrong. `null` if every entry is too recent.
 */
async function findPurgeable(
  database: Database<OAuthTables>,
  before: Date,
): Promise<Purgeable | null> {
  const retentionStart = sql<number>`${databaseNow(database)} - ${sql.lit(FEED_RETENTION_MS)}`
  const settled = await database.kysely
    .selectFrom('oauth_revocations')
    .select(['id', retentionStart.as('kept')])
    .where('written_at', '<=', retentionStart)
    .orderBy('written_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (!settled) return null
  return { before: Math.min(before.getTime(), Number(settled.kept)), settledId: settled.id }
}

/**
 * Appends entries to the revocation feed. Call it in the transaction of the change that the entries
 * announce, so that both are committed or neither.
 */
export async function appendRevocation(
  tx: Database<OAuthTables>,
  ...revocations: readonly NewRevocation[]
): Promise<void> {
  if (revocations.length === 0) return
  const rows = revocations.map((revocation) => ({
    ...newRevocationColumns.toRow(revocation),
    mark: createRandomSecret(),
    written_at: databaseNow(tx),
  }))
  await tx.kysely
    .insertInto('oauth_revocations')
    .values(rows as never)
    .execute()
}

/** Id of the only row of the table. */
const HEARTBEAT_ID = 'revocations'
/**
 * Minimum time between two counted beats, in milliseconds. A little less than a process waits
 * between beats, so that one beat serves all processes.
 */
const MIN_BEAT_INTERVAL = 1500

/** The count as seen by the server that evaluates this expression. */
const currentBeat = sql<number | null>`(select beat from oauth_heartbeats
  where id = ${sql.lit(HEARTBEAT_ID)})`

/**
 * Counts a beat unless another process has just done so, by the database's clock. Returns the
 * resulting count.
 */
function countBeat(database: Database<OAuthTables>): Promise<number> {
  const now = databaseNow(database)
  // In a transaction, because a read/write-splitting proxy sends all its statements, reads
  // included, to the primary.
  return database.transaction(async (tx) => {
    await tx.kysely
      .updateTable('oauth_heartbeats')
      .set((eb) => ({ beat: eb('beat', '+', 1), beaten_at: now }))
      .where('id', '=', HEARTBEAT_ID)
      // Also after the clock was set back.
      .where(sql<number>`abs(${now} - beaten_at)`, '>=', MIN_BEAT_INTERVAL)
      .execute()
    const row = await readRow(tx)
    if (row) return row.beat
    await insertIfAbsent(tx, 'oauth_heartbeats', { id: HEARTBEAT_ID, beat: 1, beaten_at: 0 })
    return (await readRow(tx))?.beat ?? 1
  })
}

function readRow({ kysely }: Database<OAuthTables>) {
  return kysely
    .selectFrom('oauth_heartbeats')
    .select('beat')
    .where('id', '=', HEARTBEAT_ID)
    .executeTakeFirst()
}

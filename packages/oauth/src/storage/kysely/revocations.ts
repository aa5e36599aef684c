import {
  type Database,
  databaseNow,
  deleteBatch,
  requirePrimary,
  secondaryReason,
} from '@tollgate/database'
import { sql } from 'kysely'
import { randomSecret } from '../../crypto.ts'
import { endedMark, FEED_KEPT, type NewRevocation } from '../records.ts'
import type { RevocationRepository } from '../repositories.ts'
import { countBeat, currentBeat } from './heartbeats.ts'
import { newRevocation, type OAuthTables, type RevocationRow, revocationTable } from './tables.ts'

/** What the server says of itself, beside what it has. */
interface FeedServer {
  readonly now: number
  readonly secondary: string | null
  readonly beat: number | null
}

/** Beside an empty feed the columns of the entry are null. */
type FeedRow = FeedServer & (RevocationRow | { readonly [Name in keyof RevocationRow]: null })

export function revocationRepository(database: Database<OAuthTables>): RevocationRepository {
  // A file is where it was written: what is committed shows in every later read.
  const { isLocal } = database.dialect
  // One statement, so that the entry a reader stands on and those after it are of one moment, and of the server that
  // says whether it is the primary.
  const readFrom = database.statement<{ id: number; limit: number }, FeedRow>((db, param) =>
    db
      .selectFrom(
        sql<FeedServer>`(select ${databaseNow(database)} as now,
          ${secondaryReason(database, 'oauth_revocations')} as secondary,
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
    markEnded: (before) => database.transaction((tx) => markEnded(tx, before)),
  }
}

async function markEnded(tx: Database<OAuthTables>, before: Date): Promise<NewRevocation | null> {
  const over = await findOver(tx, before)
  if (!over) return null
  const doomed = await tx.kysely
    .selectFrom('oauth_revocations')
    .select('id')
    .where('until', '<', over.before)
    .where('id', '<', over.settledId)
    .limit(1)
    .executeTakeFirst()
  if (!doomed) return null
  const marks = tx.kysely.selectFrom('oauth_revocations').select('at').where('kind', '=', 'ended')
  const former = (await marks.execute()).map(({ at }) => at)
  const mark = endedMark(new Date(Math.max(over.before, ...former)))
  await appendRevocation(tx, mark)
  await tx.kysely
    .deleteFrom('oauth_revocations')
    .where('kind', '=', 'ended')
    .where('at', '<=', mark.at.getTime())
    .where('id', '<', over.settledId)
    .execute()
  return mark
}

/** Deletes at most `limit` entries that are over, and says how many. */
export async function purgeRevocations(
  database: Database<OAuthTables>,
  before: Date,
  limit: number,
): Promise<number> {
  const over = await findOver(database, before)
  if (!over) return 0
  return deleteBatch(database as Database, {
    table: 'oauth_revocations',
    key: 'id',
    where: (eb) => eb.and([eb('until', '<', over.before), eb('id', '<', over.settledId)]),
    limit,
  })
}

interface Over {
  /** What ended before this moment may go, if it also comes before the entry. */
  readonly before: number
  /** The youngest entry that has stood for FEED_KEPT: no reader that is awake stands before it. */
  readonly settledId: number
}

/** By the database's clock: that of one process may be wrong. Null when all is too young. */
async function findOver(database: Database<OAuthTables>, before: Date): Promise<Over | null> {
  const kept = sql<number>`${databaseNow(database)} - ${sql.lit(FEED_KEPT)}`
  const settled = await database.kysely
    .selectFrom('oauth_revocations')
    .select(['id', kept.as('kept')])
    .where('written_at', '<=', kept)
    .orderBy('written_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (!settled) return null
  return { before: Math.min(before.getTime(), Number(settled.kept)), settledId: settled.id }
}

/** In the transaction of what it announces, so that neither is there without the other. */
export async function appendRevocation(
  tx: Database<OAuthTables>,
  ...revocations: readonly NewRevocation[]
): Promise<void> {
  if (revocations.length === 0) return
  const rows = revocations.map((revocation) => ({
    ...newRevocation.toRow(revocation),
    mark: randomSecret(),
    written_at: databaseNow(tx),
  }))
  await tx.kysely
    .insertInto('oauth_revocations')
    .values(rows as never)
    .execute()
}

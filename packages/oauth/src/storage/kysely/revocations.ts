import type { Database } from '@tollgate/database'
import { endedMark, type NewRevocation, type RevocationRepository } from '../repositories.ts'
import { type OAuthTables, type RevocationRow, revocationRow } from './tables.ts'

export function revocationRepository(database: Database<OAuthTables>): RevocationRepository {
  const readAfter = database.statement<{ id: number; limit: number }, RevocationRow>((db, param) =>
    db
      .selectFrom('oauth_revocations')
      .selectAll()
      .where('id', '>', param('id'))
      .orderBy('id')
      .limit(param('limit')),
  )
  return {
    async readAfter(id, limit) {
      const { rows } = await readAfter({ id, limit })
      return rows.map(revocationRow.fromRow)
    },
    append: (revocation) => appendRevocation(database, revocation),
    markEnded: (before) => database.transaction((tx) => markEnded(tx, before)),
  }
}

async function markEnded(tx: Database<OAuthTables>, before: Date): Promise<NewRevocation | null> {
  const marks = tx.kysely.selectFrom('oauth_revocations').selectAll().where('kind', '=', 'ended')
  const doomed = await tx.kysely
    .selectFrom('oauth_revocations')
    .select('id')
    .where('until', '<', before.getTime())
    .limit(1)
    .executeTakeFirst()
  if (!doomed) return null
  const former = (await marks.execute()).map(({ at }) => at)
  const mark = endedMark(new Date(Math.max(before.getTime(), ...former)))
  await tx.kysely.deleteFrom('oauth_revocations').where('kind', '=', 'ended').execute()
  await appendRevocation(tx, mark)
  return mark
}

/** In the transaction of what it announces, so that neither is there without the other. */
export async function appendRevocation(
  tx: Database<OAuthTables>,
  ...revocations: readonly NewRevocation[]
): Promise<void> {
  if (revocations.length === 0) return
  await tx.kysely
    .insertInto('oauth_revocations')
    .values(revocations.map(revocationRow.toRow) as never)
    .execute()
}

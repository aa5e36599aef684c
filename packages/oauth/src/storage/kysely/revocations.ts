import type { Database } from '@tollgate/database'
import type { NewRevocation, RevocationRepository } from '../repositories.ts'
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
  }
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

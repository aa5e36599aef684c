import type { Database } from '@tollgate/database'
import type { KeyRepository } from '../repositories.ts'
import { appendRevocation } from './revocations.ts'
import { keyTable, type OAuthTables } from './tables.ts'

export function keyRepository(database: Database<OAuthTables>): KeyRepository {
  const selectAll = (on: Database<OAuthTables>) =>
    on.kysely.selectFrom('oauth_keys').selectAll().execute()
  return {
    async list() {
      return (await selectAll(database)).map(keyTable.fromRow)
    },
    async addFirst(create) {
      if ((await selectAll(database)).length > 0) return
      await database.exclusively('oauth-keys', async (tx) => {
        if ((await selectAll(tx)).length > 0) return
        await tx.kysely
          .insertInto('oauth_keys')
          .values(keyTable.toRow(await create()))
          .execute()
      })
    },
    add: (key, notice) =>
      database.transaction(async (tx) => {
        await tx.kysely.insertInto('oauth_keys').values(keyTable.toRow(key)).execute()
        await appendRevocation(tx, notice)
      }),
    replaceAll: (key, notice) =>
      database.transaction(async (tx) => {
        await tx.kysely.deleteFrom('oauth_keys').execute()
        await tx.kysely.insertInto('oauth_keys').values(keyTable.toRow(key)).execute()
        await appendRevocation(tx, notice)
      }),
    async reseal(kid, before, after) {
      const { numUpdatedRows } = await database.kysely
        .updateTable('oauth_keys')
        .set({ sealed_private_jwk: after })
        .where('kid', '=', kid)
        .where('sealed_private_jwk', '=', before)
        .executeTakeFirst()
      return numUpdatedRows === 1n
    },
    remove: (kid, notice) =>
      database.transaction(async (tx) => {
        await tx.kysely.deleteFrom('oauth_keys').where('kid', '=', kid).execute()
        await appendRevocation(tx, notice)
      }),
  }
}

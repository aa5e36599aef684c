import type { Database } from '@tollgate/database'
import type { KeyRepository } from '../repositories.ts'
import { appendRevocation } from './revocations.ts'
import { keyTable, type OAuthTables } from './tables.ts'

export function createKeyRepository(database: Database<OAuthTables>): KeyRepository {
  const selectAll = (on: Database<OAuthTables>) =>
    on.kysely.selectFrom('oauth_keys').selectAll().execute()
  return {
    async list() {
      return (await selectAll(database)).map(keyTable.fromRow)
    },
    async addFirst(algorithm, create) {
      const isThere = async (on: Database<OAuthTables>) =>
        (await selectAll(on)).some((key) => key.algorithm === algorithm)
      if (await isThere(database)) return
      await database.exclusively('oauth-keys', async (tx) => {
        if (await isThere(tx)) return
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
    replaceAll: (keys, notice) =>
      database.transaction(async (tx) => {
        await tx.kysely.deleteFrom('oauth_keys').execute()
        await tx.kysely.insertInto('oauth_keys').values(keys.map(keyTable.toRow)).execute()
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

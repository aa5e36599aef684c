import { sql } from 'kysely'
import type { DialectWrites } from '../dialect.ts'

export const writes: DialectWrites = {
  updatesReturnRows: false,
  ctesCanWrite: false,

  // There is only INSERT IGNORE, which ignores far more; the engine turns the error into "no".
  unlessDuplicate: (insert) => insert,

  orUpdate: (insert, rest, key) =>
    insert.onDuplicateKeyUpdate(
      Object.fromEntries(
        (rest.length > 0 ? rest : key).map((c) => [c, sql`values(${sql.ref(c)})`]),
      ),
    ),

  orIncrease: (insert, _key, { column }) =>
    insert.onDuplicateKeyUpdate({
      [column]: sql`${sql.ref(column)} + values(${sql.ref(column)})`,
    }),

  // MariaDB does not know FOR SHARE.
  hold: (select) => select.modifyEnd(sql`lock in share mode`),

  deleteBatch: (db, { table, where, limit }) => db.deleteFrom(table).where(where).limit(limit),
}

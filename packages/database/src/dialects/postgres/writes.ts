import { type SqlBool, sql } from 'kysely'
import { onConflictWrites } from '../../writes/on-conflict.ts'
import type { DialectWrites } from '../dialect.ts'

export const writes: DialectWrites = {
  ...onConflictWrites,
  updatesReturnRows: true,
  ctesCanWrite: true,
  hold: (select) => select.forShare(),

  // `= any(array(…))` fetches by the key's index, whatever the planner thinks of the subquery;
  // rows that a request is working on are left for the next time.
  deleteBatch(db, { table, key, where, limit }) {
    const keys = db.selectFrom(table).select(key).where(where).limit(limit).forUpdate().skipLocked()
    return db.deleteFrom(table).where(sql<SqlBool>`${sql.ref(key)} = any(array(${keys}))`)
  },
}

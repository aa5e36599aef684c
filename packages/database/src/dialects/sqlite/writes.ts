import { onConflictWrites } from '../../writes/on-conflict.ts'
import type { DialectWrites } from '../dialect.ts'

export const writes: DialectWrites = {
  ...onConflictWrites,
  updatesReturnRows: true,
  ctesCanWrite: false,
  hold: (select) => select,
  deleteBatch: (db, { table, key, where, limit }) =>
    db
      .deleteFrom(table)
      .where(key, 'in', db.selectFrom(table).select(key).where(where).limit(limit)),
}

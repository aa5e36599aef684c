import { sql } from 'kysely'
import type { DialectWrites } from '../dialects/dialect.ts'

/** Writes of dialects that support `ON CONFLICT`. */
export const onConflictWrites: Pick<DialectWrites, 'unlessDuplicate' | 'orUpdate' | 'orIncrease'> =
  {
    unlessDuplicate: (insert) => insert.onConflict((conflict) => conflict.doNothing()),

    orUpdate: (insert, rest, key) =>
      insert.onConflict((conflict) =>
        rest.length === 0
          ? conflict.columns([...key]).doNothing()
          : conflict
              .columns([...key])
              .doUpdateSet(Object.fromEntries(rest.map((c) => [c, sql.ref(`excluded.${c}`)]))),
      ),

    orIncrease: (insert, key, { table, column }) =>
      insert.onConflict((conflict) =>
        conflict.columns([...key]).doUpdateSet({
          [column]: sql`${sql.ref(`${table}.${column}`)} + ${sql.ref(`excluded.${column}`)}`,
        }),
      ),
  }

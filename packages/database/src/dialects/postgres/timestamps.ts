import { sql } from 'kysely'
import type { TimestampColumns } from '../dialect.ts'

export const timestamps: TimestampColumns = {
  findType: (table, column) => sql`select format_type(atttypid, atttypmod) as type from pg_attribute
    where attrelid = to_regclass(quote_ident(${table})) and attname = ${column} and not attisdropped`,
  isInteger: (type) => type === 'bigint',
  isTimestamp: (type) => /^timestamp(\([3-6]\))? with time zone$/.test(type),
  /** One statement in the migration's transaction, which also rebuilds the indexes. */
  async convert(db, table, columns) {
    const changes = columns.map(
      ({ name }) => sql`alter column ${sql.ref(name)} type timestamptz(3)
        using to_timestamp(${sql.ref(name)} / 1000.0)`,
    )
    await sql`alter table ${sql.table(table)} ${sql.join(changes)}`.execute(db)
  },
}

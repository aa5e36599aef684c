import type { Database } from '@tollgate/database'
import { type RawBuilder, sql } from 'kysely'

/**
 * Describes a table as the database itself reports it: its columns and indexes, in no particular
 * order.
 */
export async function describeSchema(database: Database, table: string): Promise<object> {
  const ask = async (query: RawBuilder<unknown>) =>
    (await query.execute(database.kysely)).rows.map((row) => ({ ...(row as object) }))
  const kind = catalogues[database.dialect.name]
  if (!kind) throw new Error(`How tables of ${database.dialect.name} are described is not known`)
  return { columns: await ask(kind.columns(table)), indexes: await ask(kind.indexes(table)) }
}

interface Catalogue {
  columns(table: string): RawBuilder<unknown>
  indexes(table: string): RawBuilder<unknown>
}

const catalogues: Readonly<Record<string, Catalogue>> = {
  sqlite: {
    // The largest length is in a check constraint, which only the statement that created the column
    // contains.
    columns: (table) => sql`select info.name, info.type, info."notnull", info.pk,
        rtrim(substr(m.sql, instr(m.sql, '(length("' || info.name || '")'), length(info.name) + 19), '), ')
          as "check"
      from pragma_table_info(${table}) info join sqlite_master m on m.name = ${table}
      order by info.name`,
    indexes: (table) => sql`select name, sql from sqlite_master
      where type = 'index' and tbl_name = ${table} and sql is not null order by name`,
  },
  postgres: {
    columns: (
      table,
    ) => sql`select column_name, data_type, character_maximum_length, datetime_precision,
        is_nullable, is_identity, collation_name
      from information_schema.columns where table_schema = current_schema() and table_name = ${table}
      order by column_name`,
    indexes: (table) => sql`select indexdef from pg_indexes
      where schemaname = current_schema() and tablename = ${table} order by indexname`,
  },
  mysql: {
    columns: (table) => sql`select column_name, column_type, is_nullable, extra, collation_name
      from information_schema.columns where table_schema = database() and table_name = ${table}
      order by column_name`,
    indexes: (table) => sql`select index_name, seq_in_index, column_name, non_unique
      from information_schema.statistics where table_schema = database() and table_name = ${table}
      order by index_name, seq_in_index`,
  },
}

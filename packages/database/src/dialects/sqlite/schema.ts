import { sql } from 'kysely'
import type { DialectSchema } from '../dialect.ts'
import { dropNotNull } from './drop-not-null.ts'

export const schema: DialectSchema = {
  changesCommit: false,
  types: () => ({
    string: () => 'text',
    limitsStrings: false,
    text: 'text',
    integer: 'integer',
    flag: 'integer',
    timestamp: 'integer',
    counter: 'integer primary key autoincrement',
  }),
  tableOptions: () => 'strict',
  findTable: (name) => sql`select 1 from sqlite_master where type = 'table' and name = ${name}`,
  findColumn: (table, column) =>
    sql`select 1 from pragma_table_info(${table}) where name = ${column}`,
  dropNotNull,
  timestamps: null,
  now: () => sql`cast(unixepoch('now', 'subsec') * 1000 as integer)`,
}

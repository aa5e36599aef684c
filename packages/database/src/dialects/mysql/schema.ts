import { sql } from 'kysely'
import type { DialectSchema } from '../dialect.ts'
import { dropNotNull } from './drop-not-null.ts'
import { isReplica, SECONDARY_REASON } from './primary.ts'
import { timestamps } from './timestamps.ts'

export const schema: DialectSchema = {
  changesCommit: true,
  types: ({ exactText }) => ({
    string: (length) => `varchar(${length}) ${exactText}`,
    limitsStrings: true,
    text: `longtext ${exactText}`,
    integer: 'bigint',
    flag: 'smallint',
    timestamp: 'datetime(3)',
    counter: 'bigint auto_increment primary key',
  }),
  tableOptions: ({ exactText }) =>
    `engine = InnoDB, default ${exactText.replace(' collate', ', collate')}`,
  findTable: (name) => sql`select 1 from information_schema.tables
    where table_schema = database() and table_name = ${name}`,
  findColumn: (table, column) => sql`select 1 from information_schema.columns
    where table_schema = database() and table_name = ${table} and column_name = ${column}`,
  findIndex: (table, index) => sql`select 1 from information_schema.statistics
    where table_schema = database() and table_name = ${table} and index_name = ${index}`,
  dropNotNull,
  timestamps,
  now: () => sql`(timestampdiff(microsecond, '1970-01-01', utc_timestamp(3)) div 1000)`,
  secondaryReason: () => sql`(${sql.raw(SECONDARY_REASON)})`,
  isReplica,
}

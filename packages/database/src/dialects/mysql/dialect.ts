import { MysqlAdapter, MysqlIntrospector, MysqlQueryCompiler, sql } from 'kysely'
import { checkServerUrl } from '../../connections/server-url.ts'
import type { Dialect, DialectSchema, DialectWrites } from '../dialect.ts'
import { dropNotNull } from './drop-not-null.ts'
import { openMysql } from './engine.ts'
import { findMysqlErrorKind } from './errors.ts'
import { isReplica, NOT_PRIMARY_REASON_SQL } from './primary.ts'
import { timestamps } from './timestamps.ts'

const schema: DialectSchema = {
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
  secondaryReason: () => sql`(${sql.raw(NOT_PRIMARY_REASON_SQL)})`,
  isReplica,
  // 0 means that users have no limit of their own.
  connectionLimit: () =>
    sql`least(@@max_connections, coalesce(nullif(@@max_user_connections, 0), @@max_connections))`,
}

const writes: DialectWrites = {
  updatesReturnRows: false,
  ctesCanWrite: false,

  // The only alternative is INSERT IGNORE, which ignores many other errors, too. The engine handles
  // the duplicate-key error instead.
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

  // MariaDB does not support FOR SHARE.
  hold: (select) => select.modifyEnd(sql`lock in share mode`),

  deleteBatch: (db, { table, where, limit }) => db.deleteFrom(table).where(where).limit(limit),
}

/** The dialect of MySQL and MariaDB, which uses the package `mysql2`. */
export const mysql: Dialect = {
  name: 'mysql',
  schemes: ['mysql', 'mariadb'],
  example: 'mysql://… (also mariadb://…)',
  isLocal: false,
  checkUrl: checkServerUrl,
  open: openMysql,
  flavour: {
    createAdapter: () => new MysqlAdapter(),
    createQueryCompiler: () => new MysqlQueryCompiler(),
    createIntrospector: (db) => new MysqlIntrospector(db),
  },
  schema,
  writes,
  // No batching: decision 0011 has the measurements.
  batching: null,
  errorKind: findMysqlErrorKind,
}

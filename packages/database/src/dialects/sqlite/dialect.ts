import { SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler, sql } from 'kysely'
import { onConflictWrites } from '../../writes/on-conflict.ts'
import type { Dialect, DialectSchema, DialectWrites } from '../dialect.ts'
import { batching } from './batching.ts'
import { dropNotNull } from './drop-not-null.ts'
import { openSqlite } from './engine.ts'
import { findSqliteErrorKind } from './errors.ts'
import { checkSqliteUrl, findSqliteFile, getSqlitePath } from './url.ts'

const schema: DialectSchema = {
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

const writes: DialectWrites = {
  ...onConflictWrites,
  updatesReturnRows: true,
  ctesCanWrite: false,
  hold: (select) => select,
  deleteBatch: (db, { table, key, where, limit }) =>
    db
      .deleteFrom(table)
      .where(key, 'in', db.selectFrom(table).select(key).where(where).limit(limit)),
}

/** The dialect of SQLite, in a file or in memory. It uses the package `libsql`. */
export const sqlite: Dialect = {
  name: 'sqlite',
  schemes: ['sqlite', 'file'],
  example: 'sqlite:<file>, sqlite::memory:, file:<file>',
  isLocal: true,
  checkUrl: checkSqliteUrl,
  fileOf: findSqliteFile,
  open: (url, options) => openSqlite(getSqlitePath(url), options),
  flavour: {
    createAdapter: () => new SqliteAdapter(),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  },
  schema,
  writes,
  batching,
  errorKind: findSqliteErrorKind,
}

import { SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely'
import type { Dialect } from '../dialect.ts'
import { batching } from './batching.ts'
import { openSqlite } from './engine.ts'
import { errorKind } from './errors.ts'
import { schema } from './schema.ts'
import { checkUrl, fileOf, pathOf } from './url.ts'
import { writes } from './writes.ts'

/** SQLite in a file or in memory, through the package `libsql`. */
export const sqlite: Dialect = {
  name: 'sqlite',
  schemes: ['sqlite', 'file'],
  example: 'sqlite:<file>, sqlite::memory:, file:<file>',
  isLocal: true,
  checkUrl,
  fileOf,
  open: (url, options) => openSqlite(pathOf(url), options),
  flavour: {
    createAdapter: () => new SqliteAdapter(),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  },
  schema,
  writes,
  batching,
  errorKind,
}

import { PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely'
import { checkServerUrl } from '../../connections/server-url.ts'
import type { Dialect } from '../dialect.ts'
import { batching } from './batching.ts'
import { openPostgres } from './engine.ts'
import { errorKind } from './errors.ts'
import { schema } from './schema.ts'
import { writes } from './writes.ts'

/** Postgres, through the package `pg`. */
export const postgres: Dialect = {
  name: 'postgres',
  schemes: ['postgres', 'postgresql'],
  example: 'postgres://…',
  isLocal: false,
  checkUrl: checkServerUrl,
  open: openPostgres,
  flavour: {
    createAdapter: () => new PostgresAdapter(),
    createQueryCompiler: () => new PostgresQueryCompiler(),
    createIntrospector: (db) => new PostgresIntrospector(db),
  },
  schema,
  writes,
  batching,
  errorKind,
}

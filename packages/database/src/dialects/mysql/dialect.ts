import { MysqlAdapter, MysqlIntrospector, MysqlQueryCompiler } from 'kysely'
import { checkServerUrl } from '../../connections/server-url.ts'
import type { Dialect } from '../dialect.ts'
import { batching } from './batching.ts'
import { openMysql } from './engine.ts'
import { errorKind } from './errors.ts'
import { schema } from './schema.ts'
import { writes } from './writes.ts'

/** MySQL and MariaDB, through the package `mysql2`. */
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
  batching,
  errorKind,
}

import type { Dialect } from './dialects/dialect.ts'
import { mysql } from './dialects/mysql/dialect.ts'
import { postgres } from './dialects/postgres/dialect.ts'
import { sqlite } from './dialects/sqlite/dialect.ts'

/** The dialects that `connect()` supports without further options. */
export const builtInDialects: readonly Dialect[] = [sqlite, postgres, mysql]

export { type FindTarget, findTogether } from './batching/find.ts'
export { type InsertTarget, insertTogether } from './batching/insert.ts'
export { type ConnectOptions, connect } from './connect.ts'
export type { Database } from './database.ts'
export type { Dialect } from './dialects/engine.ts'
export { isImpossibleValue, isUnavailable, isUniqueViolation, SchemaTooNew } from './errors.ts'
export { databaseNow, readServerTime } from './locks/database-clock.ts'
export { type Migration, type MigrationSet, migrate, readMigrations } from './migrate.ts'
export type { Column, Columns } from './schema/columns.ts'
export {
  addColumn,
  createIndex,
  createTable,
  hasColumn,
  hasTable,
  type Index,
  type Table,
} from './schema/tables.ts'
export type { ParamBuilder, Statement, StatementResult } from './statements/statement.ts'
export type {
  Assignments,
  Claim,
  ClaimThenInsert,
  ConditionalUpdate,
  ParamTypes,
  UpdateOne,
} from './writes/conditional.ts'
export {
  type DeleteBatch,
  deleteBatch,
  increase,
  insertIfAbsent,
  upsert,
} from './writes/portable.ts'

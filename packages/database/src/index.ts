export type { Column, Columns } from './columns.ts'
export type {
  Assignments,
  Claim,
  ClaimThenInsert,
  ConditionalUpdate,
  ParamTypes,
  UpdateOne,
} from './conditional-writes.ts'
export { type ConnectOptions, connect } from './connect.ts'
export type { Database } from './database.ts'
export { databaseNow, readServerTime } from './database-clock.ts'
export type { Dialect } from './engine.ts'
export { isImpossibleValue, isUnavailable, isUniqueViolation, SchemaTooNew } from './errors.ts'
export { type FindTarget, findTogether } from './find-together.ts'
export { type InsertTarget, insertTogether } from './insert-together.ts'
export { type Migration, type MigrationSet, migrate, readMigrations } from './migrate.ts'
export {
  type DeleteBatch,
  deleteBatch,
  increase,
  insertIfAbsent,
  upsert,
} from './portable-writes.ts'
export type { ParamBuilder, Statement, StatementResult } from './statement.ts'
export {
  addColumn,
  createIndex,
  createTable,
  hasColumn,
  hasTable,
  type Index,
  type Table,
} from './tables.ts'

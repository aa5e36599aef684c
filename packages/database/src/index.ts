export { findTogether } from './batching/find.ts'
export { insertTogether } from './batching/insert.ts'
export { insertWhile } from './batching/insert-while.ts'
export { databaseNow, readServerTime } from './clock/database-now.ts'
export { createClockTable } from './clock/recorded-time.ts'
export { type ConnectOptions, connect } from './connect.ts'
export { findDatabaseFile } from './connection-url.ts'
export { readConnectionLimit } from './connections/connection-limit.ts'
export { checkServerUrl, redactUrl } from './connections/server-url.ts'
export type { Claim, Database, Statement, StatementResult, TranslateError } from './database.ts'
export type { Clock, ClockRepair, DatabaseClock } from './database-clock.ts'
export type {
  AnyTables,
  Assignments,
  BatchingOptions,
  ClaimThenInsert,
  ConditionalRow,
  ConditionalUpdate,
  DeleteBatch,
  FindTarget,
  InsertTarget,
  InsertWhile,
  ParamBuilder,
  ParamTypes,
  UpdateOne,
} from './definitions.ts'
export type {
  AnyKysely,
  BatchedClaims,
  BatchedInserts,
  ColumnTypes,
  DeleteQuery,
  Dialect,
  DialectSchema,
  DialectWrites,
  InsertQuery,
  SelectQuery,
  SharedCommits,
  SharedStatements,
  SqlFlavour,
  TimestampColumns,
} from './dialects/dialect.ts'
export type {
  ConnectionCounts,
  Engine,
  EngineOptions,
  Query,
  QueryResult,
  Runner,
  Session,
} from './dialects/engine.ts'
export { mysql } from './dialects/mysql/dialect.ts'
export { postgres } from './dialects/postgres/dialect.ts'
export { sqlite } from './dialects/sqlite/dialect.ts'
export { isImpossibleValue, isUnavailable, isUniqueViolation } from './error-kinds.ts'
export {
  ClockNotTrusted,
  type ErrorKind,
  type ErrorKindOf,
  findNotPrimaryError,
  MissingPackage,
  NeedsOffline,
  NoAnswer,
  NotPrimary,
  SchemaTooNew,
  SchemaTooOld,
  WaitedTooLong,
} from './errors.ts'
export {
  type MigrateOptions,
  type Migration,
  type MigrationSet,
  migrate,
  type PlannedMigration,
  planMigrations,
  readMigrations,
  requireMigrations,
} from './migrate.ts'
export { withErrors } from './open-database.ts'
export {
  type ColumnDefinition,
  type ColumnDefinitions,
  createColumnDefinitions,
} from './schema/columns.ts'
export {
  type CamelCase,
  type DefinedTable,
  defineTable,
  type RecordOf,
  type RowOf,
  type TableKeys,
} from './schema/define-table.ts'
export {
  type AnyField,
  type Field,
  field,
  type ParamType,
  type StoredTimestamp,
} from './schema/fields.ts'
export {
  addColumn,
  createIndex,
  createTable,
  dropNotNull,
  hasColumn,
  hasTable,
  type Index,
  type Table,
} from './schema/tables.ts'
export { holdsMilliseconds, toTimestamps } from './schema/timestamps.ts'
export { isReplica, requirePrimary, selectNotPrimaryReason } from './statements/primary.ts'
export {
  type DateConverter,
  type StorableValue,
  Timestamp,
  timestamp,
  toStorables,
} from './values.ts'
export { onConflictWrites } from './writes/on-conflict.ts'
export { deleteBatch, increase, insertIfAbsent, upsert } from './writes/portable.ts'

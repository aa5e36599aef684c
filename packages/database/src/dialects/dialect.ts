import type {
  Compilable,
  DeleteQueryBuilder,
  DeleteResult,
  Expression,
  InsertQueryBuilder,
  InsertResult,
  Kysely,
  Dialect as KyselyDialect,
  RawBuilder,
  SelectQueryBuilder,
} from 'kysely'
import type {
  AnyTables,
  ClaimThenInsert,
  ConditionalUpdate,
  DeleteBatch,
  FindTarget,
  InsertTarget,
  InsertWhile,
  ParamTypes,
} from '../definitions.ts'
import type { ErrorKindOf } from '../errors.ts'
import type { Engine, EngineOptions } from './engine.ts'

/** Compiles a dialect's SQL without running it: the part of Kysely's own dialects that we use. */
export type SqlFlavour = Pick<
  KyselyDialect,
  'createAdapter' | 'createQueryCompiler' | 'createIntrospector'
>

/**
 * Everything that this package knows about one kind of database. Implement it to support another
 * kind.
 */
export interface Dialect {
  /** Name of the dialect, such as `postgres`. */
  readonly name: string
  /** URL schemes that the dialect opens, in lower case, such as `postgres` and `postgresql`. */
  readonly schemes: readonly string[]
  /** Example of a valid URL, for the error about a URL that no dialect opens. */
  readonly example: string
  /** Whether the database is on this machine and no other machine can use it. */
  readonly isLocal: boolean
  /**
   * Checks a URL before anything is opened. Returns the URL without its password, for messages. If
   * omitted, every URL is accepted.
   * @throws an error that explains what is wrong and how to correct it.
   */
  checkUrl?(url: string): string
  /**
   * Returns the path of the file that a URL names, or `null` for a database in memory. Omit it if
   * URLs name a server.
   */
  fileOf?(url: string): string | null
  /** Opens the database. Does not have to check that it responds. */
  open(url: string, options: EngineOptions): Promise<Engine>
  /** Compiles SQL for this kind of database, without running it. */
  readonly flavour: SqlFlavour
  /** Declarations of types and tables, and queries of the catalogue. */
  readonly schema: DialectSchema
  /** Writes whose SQL differs between databases. */
  readonly writes: DialectWrites
  /** How concurrent calls are batched. `null` if each call runs alone. */
  readonly batching: SharedCommits | SharedStatements | null
  /**
   * Returns the kind of an error of the driver, or `undefined` if unknown. Not needed for errors of
   * the network and of this package.
   */
  readonly errorKind: ErrorKindOf
}

/** The SQL of column types, tables and the catalogue. */
export interface DialectSchema {
  /** Whether `CREATE TABLE` and similar statements commit the transaction they are in. */
  readonly changesCommit: boolean
  /** Column types of an open database. */
  types(engine: Engine): ColumnTypes
  /** Text to append after the closing bracket of `create table`. */
  tableOptions(engine: Engine): string
  /** Query that returns one row if the table exists, and none otherwise. */
  findTable(name: string): RawBuilder<unknown>
  /**
   * Query that returns one row if the table has the column, and none otherwise (also if the table
   * is missing).
   */
  findColumn(table: string, column: string): RawBuilder<unknown>
  /**
   * Query that returns one row if the index exists, and none otherwise. Omit it if the database
   * supports `create index if not exists`.
   */
  findIndex?(table: string, index: string): RawBuilder<unknown>
  /**
   * Makes a column nullable and keeps everything else of the table. Does nothing if the column is
   * nullable already. Called in a transaction. Omit it if the database supports `alter table …
   * alter column … drop not null`.
   */
  dropNotNull?(db: AnyKysely, table: string, column: string): Promise<void>
  /**
   * Converts columns of milliseconds to timestamps. `null` if the database has no timestamp type
   * and stores timestamps as milliseconds.
   */
  readonly timestamps: TimestampColumns | null
  /**
   * SQL expression for the database's own time in milliseconds since 1970 UTC, in any session time
   * zone. It must be the time of evaluation, not of the transaction's start.
   */
  now(): RawBuilder<number>
  /**
   * SQL expression for the reason why the server that evaluates it is not the primary, as the end
   * of the sentence "The database server …"; `null` on the primary. `table` is a table that only
   * the primary may change: a server that receives this table by logical replication is not the
   * primary either. Omit it if there is only one server.
   */
  secondaryReason?(table: string): RawBuilder<string | null>
  /**
   * Whether this server receives changes from another one by replication although it accepts
   * writes. `null` if the database user lacks the permission to find out. Omit it if there is only
   * one server.
   */
  isReplica?(db: AnyKysely): Promise<boolean | null>
  /**
   * SQL expression for the number of connections that the server allows the database user. Omit it
   * if connections are not limited.
   */
  connectionLimit?(): RawBuilder<number>
}

/** Converts columns of milliseconds to the timestamp type of the database. */
export interface TimestampColumns {
  /** Query that returns one row with the `type` of a column, or none if the column is missing. */
  findType(table: string, column: string): RawBuilder<{ readonly type: string }>
  /** Whether a column of this type holds milliseconds. */
  isInteger(type: string): boolean
  /** Whether a column of this type holds a timestamp, at least to the millisecond. */
  isTimestamp(type: string): boolean
  /**
   * Converts columns of milliseconds to timestamps, and keeps every moment and the table's indexes.
   * If `changesCommit` is set, this may be called again after a process died halfway, and must then
   * start over or continue.
   */
  convert(
    db: AnyKysely,
    table: string,
    columns: ReadonlyArray<{ readonly name: string; readonly isNullable: boolean }>,
  ): Promise<void>
}

/** SQL declaration of each column type. */
export interface ColumnTypes {
  /** Text of at most `length` characters that compares exactly and can be indexed. */
  string(length: number): string
  /**
   * Whether the database itself rejects text that is too long for its column. If not, a check
   * constraint is added.
   */
  readonly limitsStrings: boolean
  /** Text of any length that compares exactly. */
  readonly text: string
  /** An integer of up to 53 bits. */
  readonly integer: string
  /** A boolean, stored as 1 or 0. */
  readonly flag: string
  /**
   * A moment in UTC, to the millisecond. The values it accepts are defined by the `storeDate`
   * passed to `toStorables()`.
   */
  readonly timestamp: string
  /** A primary key that the database increments. */
  readonly counter: string
}

/** An insert with its values already set. */
export type InsertQuery = InsertQueryBuilder<AnyTables, AnyTables, InsertResult>

/** A delete with its conditions already set. */
export type DeleteQuery = DeleteQueryBuilder<AnyTables, AnyTables, DeleteResult>

/** A select with its conditions already set. */
export type SelectQuery = SelectQueryBuilder<AnyTables, string, unknown>

/** A Kysely instance without known tables. */
export type AnyKysely = Kysely<AnyTables>

/**
 * Writes whose SQL differs between databases. `onConflictWrites` implements several of them for
 * databases with `ON CONFLICT`.
 */
export interface DialectWrites {
  /** Whether `UPDATE … RETURNING` is supported. */
  readonly updatesReturnRows: boolean
  /** Whether `WITH claimed AS (UPDATE … RETURNING …) INSERT …` is supported. */
  readonly ctesCanWrite: boolean
  /**
   * Makes an insert do nothing if a unique key is taken. If SQL cannot express that, the engine
   * handles it through `duplicateIsNoop`.
   */
  unlessDuplicate(insert: InsertQuery): InsertQuery
  /** Makes an insert update the columns `rest` of the row with the same `key`, if there is one. */
  orUpdate(insert: InsertQuery, rest: readonly string[], key: readonly string[]): InsertQuery
  /**
   * Makes an insert add its number in `column` to the row with the same `key`, if there is one,
   * instead of inserting a second row.
   */
  orIncrease(
    insert: InsertQuery,
    key: readonly string[],
    at: { readonly table: string; readonly column: string },
  ): InsertQuery
  /**
   * Locks the selected rows against changes until the transaction ends; the lock is shared. Adds
   * nothing on a database with a single writer.
   */
  hold(select: SelectQuery): SelectQuery
  /**
   * Deletes at most `limit` rows. If possible, skips rows that other transactions have locked
   * instead of waiting for them.
   */
  deleteBatch(db: AnyKysely, batch: DeleteBatch): DeleteQuery
}

/**
 * Batching in which concurrent calls share one transaction: each statement runs alone, but there is
 * one commit.
 */
export interface SharedCommits {
  /** Discriminant: each call runs its own statement, and one commit makes all of them durable. */
  readonly share: 'commit'
  /** Milliseconds to wait for the running batch before the next one starts beside it. */
  readonly patience: number
}

/**
 * Batching in which concurrent calls share one statement, which receives their parameters as one
 * value of JSON text.
 */
export interface SharedStatements {
  /** Discriminant: one statement executes the calls of a whole list. */
  readonly share: 'statement'
  /** Milliseconds to wait for the running batch before the next one starts beside it. */
  readonly patience: number
  /**
   * Inserts those rows of a list whose key is not taken, and returns the key columns of the
   * inserted rows.
   */
  insertMany(db: AnyKysely, target: InsertTarget, rows: Expression<string>): Compilable
  /** Selects all columns of the rows whose key is in a list of texts. */
  findMany(db: AnyKysely, target: FindTarget, keys: Expression<string>): Compilable
  /**
   * Executes the claim for every element of a list of parameters. Returns the columns in
   * `claim.returning` of each changed row, and as `$winner` the number (from 1) of the element that
   * it was changed for. May skip any element: skipped elements are retried alone.
   */
  claimMany(db: AnyKysely, claims: BatchedClaims, list: Expression<string>): Compilable
  /**
   * Executes the insert for every element of a list of parameters whose row exists. Returns as
   * `$winner` the numbers (from 1) of the elements that were inserted. May skip any element:
   * skipped elements are retried alone.
   */
  insertManyWhile(db: AnyKysely, inserts: BatchedInserts, list: Expression<string>): Compilable
}

/** A claim to be executed for many callers in one statement. */
export interface BatchedClaims {
  /** The change that each caller makes. */
  readonly claim: ConditionalUpdate<AnyTables, AnyTables>
  /** The row to insert for each winner. Absent for a plain update. */
  readonly insert?: ClaimThenInsert<AnyTables, AnyTables>['insert']
  /** The SQL type of each parameter in the list. */
  readonly types: ParamTypes<AnyTables>
}

/** A conditional insert to be executed for many callers in one statement. */
export interface BatchedInserts extends Pick<InsertWhile<AnyTables, AnyTables>, 'row' | 'insert'> {
  /** The SQL type of each parameter in the list. */
  readonly types: ParamTypes<AnyTables>
}

/**
 * Result column with the number of the list element (the batched call) for which a row was changed.
 */
export const WINNER_COLUMN = '$winner'

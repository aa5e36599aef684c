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
import type { AnyTables } from '../any-tables.ts'
import type {
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

/** How a dialect's SQL is written, without how it is run: the part of Kysely's own dialects that we use. */
export type SqlFlavour = Pick<
  KyselyDialect,
  'createAdapter' | 'createQueryCompiler' | 'createIntrospector'
>

/** Everything that this package knows about one kind of database. */
export interface Dialect {
  /** Such as `postgres`. */
  readonly name: string
  /** The schemes of the URLs that it opens, in lower case, such as `postgres` and `postgresql`. */
  readonly schemes: readonly string[]
  /** What such a URL looks like, for the message about one that nobody can open. */
  readonly example: string
  /** The database is on this machine, and no other machine can use it. */
  readonly isLocal: boolean
  /**
   * Looks at a URL before anything is opened. Throws an error that says what is wrong and how to mend it;
   * gives back the URL as it may be shown, without its password. Left out, any URL will do.
   */
  checkUrl?(url: string): string
  /** The file that a URL names; null for a database in memory. Left out where a URL names a server. */
  fileOf?(url: string): string | null
  /** Opens the database; need not find out whether it answers. */
  open(url: string, options: EngineOptions): Promise<Engine>
  /** How SQL is written. */
  readonly flavour: SqlFlavour
  /** What is declared differently, and where it can be looked up. */
  readonly schema: DialectSchema
  /** What is written differently. */
  readonly writes: DialectWrites
  /** How calls that come at the same time go together; null when each goes alone. */
  readonly batching: SharedCommits | SharedStatements | null
  /** What the driver's errors mean. Those of the network and of this package are known already. */
  readonly errorKind: ErrorKindOf
}

/** The SQL of column types, tables and the catalogue. */
export interface DialectSchema {
  /** `CREATE TABLE` and the like commit the transaction they are in. */
  readonly changesCommit: boolean
  /** The types of columns, on a database that is open. */
  types(engine: Engine): ColumnTypes
  /** What follows the closing bracket of `create table`. */
  tableOptions(engine: Engine): string
  /** A query that gives one row when the table is there, and none when it is not. */
  findTable(name: string): RawBuilder<unknown>
  /** The same for a column of a table, which may be missing too. */
  findColumn(table: string, column: string): RawBuilder<unknown>
  /** The same for an index. Left out where `create index if not exists` can be written. */
  findIndex?(table: string, index: string): RawBuilder<unknown>
  /**
   * Lets a column be empty, and keeps everything else of the table; does nothing if it may be already. Called in a
   * transaction. Left out where `alter table … alter column … drop not null` can be written.
   */
  dropNotNull?(db: AnyKysely, table: string, column: string): Promise<void>
  /** How columns of milliseconds become timestamps; null where timestamps are milliseconds. */
  readonly timestamps: TimestampColumns | null
  /**
   * The database's own time in milliseconds since 1970 UTC: that of the moment it is evaluated, not of its
   * transaction's start, whatever the time zone.
   */
  now(): RawBuilder<number>
  /**
   * Why the server that evaluates it is not the primary, as the end of the sentence "The database server …"; null on
   * the primary. `table` is one that only the primary may write, also not by replication of that table alone. Left out
   * where there is one server only.
   */
  secondaryReason?(table: string): RawBuilder<string | null>
  /**
   * Whether this server also receives changes from another one, although it takes writes; null if this user may not
   * know. Left out where there is one server only.
   */
  isReplica?(db: AnyKysely): Promise<boolean | null>
}

/** What a database that has timestamps must know of columns that were made without. */
export interface TimestampColumns {
  /** A query that gives one row with the `type` of a column, or none when it is not there. */
  findType(table: string, column: string): RawBuilder<{ readonly type: string }>
  /** Whether such a type holds milliseconds. */
  isInteger(type: string): boolean
  /** Whether it holds a moment, to the millisecond at least. */
  isTimestamp(type: string): boolean
  /**
   * Turns columns of milliseconds into timestamps, keeps every moment, and keeps the table's indexes. Where
   * `changesCommit`, it is called again after a process died in it, and must then begin or go on.
   */
  convert(
    db: AnyKysely,
    table: string,
    columns: ReadonlyArray<{ readonly name: string; readonly isNullable: boolean }>,
  ): Promise<void>
}

/** How each of our column types is declared. */
export interface ColumnTypes {
  /** Text of at most `length` characters that compares exactly and may be indexed. */
  string(length: number): string
  /** Whether that type refuses longer text by itself. If not, a check does. */
  readonly limitsStrings: boolean
  /** Text of any length that compares exactly. */
  readonly text: string
  /** A whole number of up to 53 bits. */
  readonly integer: string
  /** 1 or 0. */
  readonly flag: string
  /** A moment in UTC, to the millisecond. `toStorables()` must be told what it takes. */
  readonly timestamp: string
  /** A primary key that the database counts up. */
  readonly counter: string
}

/** An insert that has its values. */
export type InsertQuery = InsertQueryBuilder<AnyTables, AnyTables, InsertResult>

/** A delete that has its conditions. */
export type DeleteQuery = DeleteQueryBuilder<AnyTables, AnyTables, DeleteResult>

/** A select that has its conditions. */
export type SelectQuery = SelectQueryBuilder<AnyTables, string, unknown>

/** A Kysely of any tables. */
export type AnyKysely = Kysely<AnyTables>

/** Writes that databases spell differently. `onConflictWrites` is what many of them have in common. */
export interface DialectWrites {
  /** `UPDATE … RETURNING` exists. */
  readonly updatesReturnRows: boolean
  /** `WITH claimed AS (UPDATE … RETURNING …) INSERT …` exists. */
  readonly ctesCanWrite: boolean
  /** Inserts nothing when a unique key is taken. Where SQL cannot say so, the engine minds `duplicateIsNoop`. */
  unlessDuplicate(insert: InsertQuery): InsertQuery
  /** Gives the row that has the same `key` the values of the `rest` of the columns. */
  orUpdate(insert: InsertQuery, rest: readonly string[], key: readonly string[]): InsertQuery
  /** Adds the number in `column` to that of the row that has the same `key`. */
  orIncrease(
    insert: InsertQuery,
    key: readonly string[],
    at: { readonly table: string; readonly column: string },
  ): InsertQuery
  /**
   * Keeps the rows that are selected from being changed until the transaction ends, while any number may
   * hold them so. Where only one can write at a time, nothing needs to be added.
   */
  hold(select: SelectQuery): SelectQuery
  /** Deletes at most `limit` rows and waits for no request that works on one of them, if that can be had. */
  deleteBatch(db: AnyKysely, batch: DeleteBatch): DeleteQuery
}

/** Those who come together share one transaction: each statement runs alone, but the commit is one. */
export interface SharedCommits {
  /** Their statements stay their own; one commit makes them durable. */
  readonly share: 'commit'
  /** Milliseconds that a round keeps the next one waiting. */
  readonly patience: number
}

/** Those who come together share one statement, which gets a list as one value: JSON text. */
export interface SharedStatements {
  /** What they want is a list, which one statement works through. */
  readonly share: 'statement'
  /** Milliseconds that a round keeps the next one waiting. */
  readonly patience: number
  /** Inserts the rows of a list whose key is not taken, and returns the key columns of those it did. */
  insertMany(db: AnyKysely, target: InsertTarget, rows: Expression<string>): Compilable
  /** Selects all columns of the rows whose key is in a list of texts. */
  findMany(db: AnyKysely, target: FindTarget, keys: Expression<string>): Compilable
  /**
   * The claim for every element of a list of parameters. Returns `claim.returning` of the rows changed, and
   * as `$winner` the number, from 1, of the element each was changed for. May leave out elements at will:
   * they are tried again, alone.
   */
  claimMany(db: AnyKysely, claims: ManyClaims, list: Expression<string>): Compilable
  /**
   * The insert for every element of a list of parameters whose row is there. Returns as `$winner` the numbers,
   * from 1, of the elements it was made for. May leave out elements at will: they are tried again, alone.
   */
  insertManyWhile(db: AnyKysely, inserts: ManyInserts, list: Expression<string>): Compilable
}

/** A claim to be made for many callers at once. */
export interface ManyClaims {
  /** The change that each caller asks for. */
  readonly claim: ConditionalUpdate<AnyTables, AnyTables>
  /** What each winner adds; none for a mere update. */
  readonly insert?: ClaimThenInsert<AnyTables, AnyTables>['insert']
  /** The SQL type of each parameter in the list. */
  readonly types: ParamTypes<AnyTables>
}

/** An insert that rests on a row, to be made for many callers at once. */
export interface ManyInserts extends Pick<InsertWhile<AnyTables, AnyTables>, 'row' | 'insert'> {
  /** The SQL type of each parameter in the list. */
  readonly types: ParamTypes<AnyTables>
}

/** The column that says for which element of the list a row was changed. */
export const WINNER = '$winner'

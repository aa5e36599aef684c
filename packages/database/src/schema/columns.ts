import { type Database, internalsOf } from '../database.ts'

/** The type of a column, the same in meaning on every database. */
export interface Column {
  /** As it is declared. */
  readonly type: string
  /** It may be empty. */
  readonly isNullable: boolean
  /** Most characters allowed, where a check has to say it because the type does not. */
  readonly length?: number
  /** The same column, but it may be empty. */
  nullable(): Column
}

/** Column types for migrations. Text compares exactly: case, accents and trailing spaces count. */
export interface Columns {
  /** An identifier, hash or key: up to 64 characters. */
  readonly id: Column
  /** Text of at most `length` characters, which may be indexed; up to 700. */
  string(length: number): Column
  /** Text of any length; cannot be indexed. */
  readonly text: Column
  /** A moment as milliseconds since 1970 UTC. Reads as a number. */
  readonly instant: Column
  /**
   * A moment to the millisecond, in the database's own type if it has one: `timestamptz(3)` on Postgres,
   * `datetime(3)` in UTC on MariaDB and MySQL, milliseconds since 1970 on SQLite. Takes `timestamp(date)`; reads as a
   * `Date`, on SQLite as a number. `field.timestamp` reads both.
   */
  readonly timestamp: Column
  /** A whole number of up to 53 bits. Reads as a number. */
  readonly integer: Column
  /** Yes or no as 1 or 0. */
  readonly flag: Column
  /**
   * The table's primary key, counted up by the database. Numbers are taken when a row is written but
   * seen when its transaction commits: a reader may see 8 before 7.
   */
  readonly counter: Column
}

/** The column types of this database; a migration is given them. */
export function createColumns(database: Database): Columns {
  const types = database.dialect.schema.types(internalsOf(database).engine)
  const string = (length: number) => {
    if (!Number.isInteger(length) || length < 1 || length > 700) {
      throw new TypeError(`A string column of ${length} characters; expected 1 to 700, or use text`)
    }
    return createColumn(types.string(length), types.limitsStrings ? undefined : length)
  }
  return {
    id: string(64),
    string,
    text: createColumn(types.text),
    instant: createColumn(types.integer),
    timestamp: createColumn(types.timestamp),
    integer: createColumn(types.integer),
    flag: createColumn(types.flag),
    counter: createColumn(types.counter),
  }
}

function createColumn(type: string, length?: number, isNullable = false): Column {
  return {
    type,
    isNullable,
    ...(length === undefined ? {} : { length }),
    nullable: () => createColumn(type, length, true),
  }
}

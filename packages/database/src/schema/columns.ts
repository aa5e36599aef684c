import { type Database, internalsOf } from '../database.ts'

/** The type of a column. Its meaning is the same on every database. */
export interface ColumnDefinition {
  /** SQL type of the column. */
  readonly type: string
  /** Whether the column accepts nulls. */
  readonly isNullable: boolean
  /**
   * Largest number of characters, if a check constraint has to enforce it because the type does
   * not.
   */
  readonly length?: number
  /** Returns the same column type with nulls allowed. */
  nullable(): ColumnDefinition
}

/** Column types for migrations. Text compares exactly: case, accents and trailing spaces count. */
export interface ColumnDefinitions {
  /** An identifier, hash or key of up to 64 characters. */
  readonly id: ColumnDefinition
  /** Text of at most `length` characters that can be indexed. `length` is at most 700. */
  string(length: number): ColumnDefinition
  /** Text of any length. Cannot be indexed. */
  readonly text: ColumnDefinition
  /** A moment as milliseconds since 1970 UTC. Reads as a number. */
  readonly instant: ColumnDefinition
  /**
   * A moment to the millisecond, in the database's own type if it has one: `timestamptz(3)` on
   * Postgres, `datetime(3)` in UTC on MariaDB and MySQL, milliseconds since 1970 on SQLite. Write
   * it with `timestamp(date)`. It reads as a `Date`, on SQLite as a number; `field.timestamp`
   * handles both.
   */
  readonly timestamp: ColumnDefinition
  /** An integer of up to 53 bits. Reads as a number. */
  readonly integer: ColumnDefinition
  /** A boolean, stored as 1 or 0. */
  readonly flag: ColumnDefinition
  /**
   * The table's primary key, incremented by the database. A number is assigned when a row is
   * written but becomes visible when its transaction commits: a reader may see 8 before 7.
   */
  readonly counter: ColumnDefinition
}

/** Returns the column types of this database. Migrations receive them as an argument. */
export function createColumnDefinitions(database: Database): ColumnDefinitions {
  const types = database.dialect.schema.types(internalsOf(database).engine)
  const string = (length: number) => {
    if (!Number.isInteger(length) || length < 1 || length > 700) {
      throw new TypeError(
        `A string column cannot have ${length} characters; expected 1 to 700, or use text`,
      )
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

function createColumn(type: string, length?: number, isNullable = false): ColumnDefinition {
  return {
    type,
    isNullable,
    ...(length === undefined ? {} : { length }),
    nullable: () => createColumn(type, length, true),
  }
}

import { Timestamp, timestamp } from '../values.ts'
import type { ColumnDefinition, ColumnDefinitions } from './columns.ts'

/**
 * A timestamp as it is written (`Timestamp`), and as it is read: a `Date`, or milliseconds if the
 * database has no timestamps.
 */
export type StoredTimestamp = Timestamp | Date | number

/** SQL type of a column as a parameter of a batched statement. */
export type ParamType = 'text' | 'bigint' | 'timestamptz'

/** A column of a defined table, with values of any type. */
export interface AnyField {
  /** Declares the column on one database. */
  declare(columns: ColumnDefinitions): ColumnDefinition
  /** SQL type of the column as a parameter of a batched statement. */
  readonly param: ParamType
  /** Converts a value of the program to the column's value. */
  toStored(value: never): unknown
  /** Converts the column's value to a value of the program. */
  fromStored(stored: never): unknown
}

/** A column of a defined table: its declaration and the conversion of its values. */
export interface Field<Value, Stored> extends AnyField {
  /** Converts a value of the program to the column's value. */
  toStored(value: Value): Stored
  /** Converts the column's value to a value of the program. */
  fromStored(stored: Stored): Value
  /** Returns the same field with nulls allowed. */
  nullable(): Field<Value | null, Stored | null>
  /**
   * Returns the same field with a narrower type, such as a union of literals. No values are
   * checked.
   */
  as<Narrow extends Value>(): Field<Narrow, Stored>
}

interface Definition<Value, Stored> {
  readonly declare: (columns: ColumnDefinitions) => ColumnDefinition
  readonly param: ParamType
  readonly toStored: (value: Value) => Stored
  readonly fromStored: (stored: Stored) => Value
}

function createField<Value, Stored>(definition: Definition<Value, Stored>): Field<Value, Stored> {
  const { declare, param, toStored, fromStored } = definition
  return {
    ...definition,
    nullable: () =>
      createField<Value | null, Stored | null>({
        declare: (columns) => declare(columns).nullable(),
        param,
        toStored: (value) => (value === null ? null : toStored(value)),
        fromStored: (stored) => (stored === null ? null : fromStored(stored)),
      }),
    as: <Narrow extends Value>() => createField(definition) as unknown as Field<Narrow, Stored>,
  }
}

const same = <Value>(value: Value): Value => value

function createText(
  declare: (columns: ColumnDefinitions) => ColumnDefinition,
): Field<string, string> {
  return createField({ declare, param: 'text', toStored: same, fromStored: same })
}

/**
 * The kinds of columns for `defineTable()`. See {@link ColumnDefinitions} for their meaning in the
 * database.
 */
export const field = {
  /** An identifier, hash or key of up to 64 characters. */
  id: createText(({ id }) => id),
  /** Text of at most `length` characters that can be indexed. */
  string: (length: number): Field<string, string> => createText(({ string }) => string(length)),
  /** Text of any length. */
  text: createText(({ text }) => text),
  /** A list or an object, stored as JSON text. */
  json: <Value>(): Field<Value, string> =>
    createField<Value, string>({
      declare: ({ text }) => text,
      param: 'text',
      toStored: (value) => JSON.stringify(value),
      fromStored: (stored) => JSON.parse(stored),
    }),
  /** An integer of up to 53 bits. */
  integer: createField<number, number>({
    declare: ({ integer }) => integer,
    param: 'bigint',
    toStored: same,
    fromStored: same,
  }),
  /** A boolean, stored as 1 or 0. */
  flag: createField<boolean, number>({
    declare: ({ flag }) => flag,
    param: 'bigint',
    toStored: Number,
    fromStored: (stored) => stored === 1,
  }),
  /** A moment, stored as milliseconds since 1970 UTC. */
  instant: createField<Date, number>({
    declare: ({ instant }) => instant,
    param: 'bigint',
    toStored: (date) => date.getTime(),
    fromStored: (stored) => new Date(stored),
  }),
  /** A moment, stored as the database's own timestamp type if it has one. */
  timestamp: createField<Date, StoredTimestamp>({
    declare: (columns) => columns.timestamp,
    param: 'timestamptz',
    toStored: timestamp,
    fromStored: (stored) => (stored instanceof Timestamp ? stored.date : new Date(stored)),
  }),
  /** The primary key, incremented by the database. */
  counter: createField<number, number>({
    declare: ({ counter }) => counter,
    param: 'bigint',
    toStored: same,
    fromStored: same,
  }),
}

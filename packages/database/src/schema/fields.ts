import { Timestamp, timestamp } from '../values.ts'
import type { Column, Columns } from './columns.ts'

/** A timestamp as it is written, and as it is read: as a `Date`, or where there is none as milliseconds. */
export type StoredTimestamp = Timestamp | Date | number

/** What a column is as a parameter of a statement that many callers share. */
export type ParamType = 'text' | 'bigint' | 'timestamptz'

/** A column whose values may be of any type. */
export interface AnyField {
  /** Its declaration on one database. */
  declare(columns: Columns): Column
  /** Its type as a parameter of a statement that many callers share. */
  readonly param: ParamType
  /** From what the program works with to what the column holds. */
  toStored(value: never): unknown
  /** And back. */
  fromStored(stored: never): unknown
}

/** A column of a table that is defined once: how it is declared, and how its values go in and out. */
export interface Field<Value, Stored> extends AnyField {
  /** From what the program works with to what the column holds. */
  toStored(value: Value): Stored
  /** And back. */
  fromStored(stored: Stored): Value
  /** The same, but it may be empty. */
  nullable(): Field<Value | null, Stored | null>
  /** The same, but only some of its values occur: a union of words, say. */
  as<Narrow extends Value>(): Field<Narrow, Stored>
}

interface Definition<Value, Stored> {
  readonly declare: (columns: Columns) => Column
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

function createText(declare: (columns: Columns) => Column): Field<string, string> {
  return createField({ declare, param: 'text', toStored: same, fromStored: same })
}

/** The kinds of columns that `defineTable()` knows. They mean what those of {@link Columns} mean. */
export const field = {
  /** An identifier, hash or key: up to 64 characters. */
  id: createText(({ id }) => id),
  /** Text of at most `length` characters, which may be indexed. */
  string: (length: number): Field<string, string> => createText(({ string }) => string(length)),
  /** Text of any length. */
  text: createText(({ text }) => text),
  /** A list or an object, kept as JSON text. */
  json: <Value>(): Field<Value, string> =>
    createField<Value, string>({
      declare: ({ text }) => text,
      param: 'text',
      toStored: (value) => JSON.stringify(value),
      fromStored: (stored) => JSON.parse(stored),
    }),
  /** A whole number of up to 53 bits. */
  integer: createField<number, number>({
    declare: ({ integer }) => integer,
    param: 'bigint',
    toStored: same,
    fromStored: same,
  }),
  /** Yes or no, kept as 1 or 0. */
  flag: createField<boolean, number>({
    declare: ({ flag }) => flag,
    param: 'bigint',
    toStored: Number,
    fromStored: (stored) => stored === 1,
  }),
  /** A moment, kept as milliseconds since 1970 UTC. */
  instant: createField<Date, number>({
    declare: ({ instant }) => instant,
    param: 'bigint',
    toStored: (date) => date.getTime(),
    fromStored: (stored) => new Date(stored),
  }),
  /** A moment, kept as the database's own timestamp if it has one. */
  timestamp: createField<Date, StoredTimestamp>({
    declare: (columns) => columns.timestamp,
    param: 'timestamptz',
    toStored: timestamp,
    fromStored: (stored) => (stored instanceof Timestamp ? stored.date : new Date(stored)),
  }),
  /** The primary key, counted up by the database. */
  counter: createField<number, number>({
    declare: ({ counter }) => counter,
    param: 'bigint',
    toStored: same,
    fromStored: same,
  }),
}

import type { ColumnDefinitions } from './columns.ts'
import type { AnyField, ParamType } from './fields.ts'
import type { Table } from './tables.ts'

/** A row as stored in the database. */
export type RowOf<F> = {
  [Name in keyof F]: F[Name] extends { fromStored(stored: infer Stored): unknown } ? Stored : never
}

/** A row as the program uses it: camelCase names, dates, lists and booleans. */
export type RecordOf<F> = {
  readonly [Name in keyof F as CamelCase<Name>]: F[Name] extends {
    fromStored(stored: never): infer Value
  }
    ? Value
    : never
}

/** Converts a name at the type level: `user_id` → `userId`. */
export type CamelCase<Name> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name

/** Keys and indexes of a table. */
export type TableKeys = Omit<Table, 'columns'>

/**
 * A table that is defined once: its declaration, its row type and its record type derive from this
 * definition.
 */
export interface DefinedTable<F> {
  /** Name of the table in the database. */
  readonly name: string
  /** Names of the columns, in order. */
  readonly columns: ReadonlyArray<keyof F & string>
  /** Type of each column as a parameter, for the option `together` of batched writes. */
  readonly paramTypes: Readonly<Record<keyof F & string, ParamType>>
  /**
   * Returns the argument of `createTable()`, for the first migration of a set. Later migrations
   * spell out their changes.
   */
  describe(columns: ColumnDefinitions): Table
  /** Converts a record to a row. */
  toRow(record: RecordOf<F>): RowOf<F>
  /** Converts a row to a record. */
  fromRow(row: RowOf<F>): RecordOf<F>
  /** Converts a partial record to a partial row, which has only the columns of that record. */
  toChange(
    change: { readonly [Name in keyof RecordOf<F>]?: RecordOf<F>[Name] | undefined },
  ): Partial<RowOf<F>>
  /** Returns a definition with only these columns. */
  pick<Name extends keyof F & string>(...names: readonly Name[]): DefinedTable<Pick<F, Name>>
  /**
   * Returns a definition without these columns, for example without an id that the database has not
   * yet assigned.
   */
  omit<Name extends keyof F & string>(
    ...names: readonly Name[]
  ): DefinedTable<Pick<F, Exclude<keyof F & string, Name>>>
}

/**
 * Defines a table once. The types of its rows and records, the conversions between them, the
 * declaration for `createTable()` and the types of parameters all derive from it.
 * @example
 * ```ts
 * const notes = defineTable('notes', {
 *   id: field.id,
 *   user_id: field.id,
 *   tags: field.json<string[]>(),
 *   read_at: field.instant.nullable(),
 * }, { primaryKey: ['id'] })
 *
 * notes.fromRow(row) // { id: string, userId: string, tags: string[], readAt: Date | null }
 * ```
 */
export function defineTable<F extends { readonly [Name in keyof F]: AnyField }>(
  name: string,
  fields: F,
  keys: TableKeys = {},
): DefinedTable<F> {
  const columns = Object.keys(fields) as Array<keyof F & string>
  const pick = <Name extends keyof F & string>(names: readonly Name[]) =>
    defineTable(name, mapColumns(names, (column) => fields[column]) as Pick<F, Name>)
  const steps = columns.map((column) => createColumnConversion(column, fields[column]))
  return {
    name,
    columns,
    paramTypes: mapColumns(columns, (column) => fields[column].param),
    describe: (types) => ({
      ...keys,
      columns: mapColumns(columns, (column) => fields[column].declare(types)),
    }),
    toRow(record) {
      const row: Values = {}
      for (const step of steps) row[step.column] = step.toStored((record as Values)[step.property])
      return row as RowOf<F>
    },
    fromRow(row) {
      const record: Values = {}
      for (const step of steps) {
        record[step.property] = step.fromStored((row as Values)[step.column])
      }
      return record as RecordOf<F>
    },
    toChange(change) {
      const row: Values = {}
      for (const { column, property, toStored } of steps) {
        const value = (change as Values)[property]
        if (value !== undefined) row[column] = toStored(value)
      }
      return row as Partial<RowOf<F>>
    },
    pick: (...names) => pick(names),
    omit: <Name extends keyof F & string>(...names: readonly Name[]) => {
      const isLeft = (column: keyof F & string): column is Exclude<keyof F & string, Name> =>
        !(names as readonly string[]).includes(column)
      return pick(columns.filter(isLeft))
    },
  }
}

type Values = Record<string, unknown>

/** Conversion of one column's value. */
interface ColumnConversion {
  readonly column: string
  readonly property: string
  readonly toStored: (value: unknown) => unknown
  readonly fromStored: (stored: unknown) => unknown
}

function createColumnConversion(
  column: string,
  { toStored, fromStored }: AnyField,
): ColumnConversion {
  return {
    column,
    property: column.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
    toStored: toStored as ColumnConversion['toStored'],
    fromStored: fromStored as ColumnConversion['fromStored'],
  }
}

function mapColumns<Name extends string, Value>(
  columns: readonly Name[],
  map: (column: Name) => Value,
): Record<Name, Value> {
  return Object.fromEntries(columns.map((column) => [column, map(column)])) as Record<Name, Value>
}

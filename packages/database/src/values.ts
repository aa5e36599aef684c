/** A value that every database keeps exactly. */
export type StorableValue = string | number | bigint | null | Buffer

/** Converts a moment to the value that the database's timestamp columns accept. */
export type DateConverter = (date: Date) => StorableValue

/**
 * A moment for a timestamp column. A bare `Date` is rejected: in a column of milliseconds one
 * database would accept it, one would reject it, and one would compare only its year.
 */
export class Timestamp {
  /** The moment that is stored. */
  readonly date: Date

  /** Prefer `timestamp(date)`, which is shorter. */
  constructor(date: Date) {
    this.date = date
  }
}

/** Wraps a date for a timestamp column, on every database. */
export function timestamp(date: Date): Timestamp {
  return new Timestamp(date)
}

/**
 * Converts a value to one that all three databases store in the same way. Drivers differ widely for
 * all other values: one aborts the process on a boolean and truncates text at NUL, another turns an
 * object into SQL.
 * @throws {TypeError} for any other value.
 */
export function toStorable(value: unknown, storeDate?: DateConverter): StorableValue {
  switch (typeof value) {
    case 'string':
      if (!isExactText(value)) {
        throw new TypeError('Text with a NUL or a lone surrogate cannot be stored exactly')
      }
      return value
    case 'number':
      if (Number.isFinite(value)) return value
      throw new TypeError(`${value} cannot be stored; expected a finite number`)
    case 'boolean':
      return value ? 1 : 0
    case 'bigint':
      return value
    case 'object':
      if (value === null) return value
      if (value instanceof Timestamp) return storeTimestamp(value, storeDate)
      if (value instanceof Uint8Array) {
        return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
      }
      if (value instanceof Date) {
        throw new TypeError(
          'A Date cannot be stored; use its getTime() in an instant column, or timestamp(date) in a timestamp column',
        )
      }
  }
  throw new TypeError(
    `A ${typeof value} cannot be stored; expected text, a number, a boolean, bytes or null`,
  )
}

/**
 * Converts values with `toStorable()`; `storeDate` converts the moments of this database's
 * timestamp columns.
 * @throws {TypeError} for a value that the databases store differently.
 */
export function toStorables(
  values: readonly unknown[],
  storeDate?: DateConverter,
): StorableValue[] {
  const storables = new Array<StorableValue>(values.length)
  for (let i = 0; i < values.length; i++) storables[i] = toStorable(values[i], storeDate)
  return storables
}

const EARLIEST_TIMESTAMP = Date.UTC(1000, 0)
const LATEST_TIMESTAMP = Date.UTC(10_000, 0)

/** Converts a timestamp. Only years of four digits are supported by every database. */
function storeTimestamp({ date }: Timestamp, storeDate: DateConverter | undefined): StorableValue {
  if (!storeDate) throw new TypeError('This dialect does not define how timestamps are stored')
  if (date.getTime() >= EARLIEST_TIMESTAMP && date.getTime() < LATEST_TIMESTAMP)
    return storeDate(date)
  throw new TypeError('A timestamp outside of the years 1000 to 9999 cannot be stored')
}

/**
 * Converts rows to one JSON text, which Postgres splits into rows again. Bytes are not supported.
 */
export function toJsonRows(rows: readonly object[]): string {
  if (rows.every(isPlain)) {
    const text = JSON.stringify(rows)
    // `JSON.stringify` writes every character that cannot be stored exactly as a `\u` escape.
    if (!text.includes('\\u')) return text
  }
  return JSON.stringify(rows.map(toJsonRow))
}

function isPlain(row: object): boolean {
  for (const name in row) {
    const value = (row as Record<string, unknown>)[name]
    if (typeof value !== 'string' && value !== null && !Number.isFinite(value)) return false
  }
  return true
}

function toJsonRow(row: object): object {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, toJson(value)]))
}

function toJson(value: unknown): string | number | null {
  const storable = toStorable(value, (date) => date.toISOString())
  if (typeof storable === 'bigint') return String(storable)
  if (Buffer.isBuffer(storable))
    throw new TypeError('Bytes cannot be stored when several rows are inserted at once')
  return storable
}

/** `isWellFormed` exists in all supported versions of Node, but not yet in the ES2023 typings. */
function isExactText(text: string): boolean {
  return !text.includes('\0') && (text as string & { isWellFormed(): boolean }).isWellFormed()
}

/** A value that every database keeps exactly. */
export type Storable = string | number | bigint | null | Buffer

/** How the timestamp columns of a database take a moment. */
export type StoreDate = (date: Date) => Storable

/**
 * A moment for a timestamp column. A bare `Date` is refused: in a column of milliseconds one database would
 * take it, one would refuse it, and one would compare its year.
 */
export class Timestamp {
  /** The moment. */
  readonly date: Date

  /** `timestamp(date)` is shorter. */
  constructor(date: Date) {
    this.date = date
  }
}

/** A moment as a timestamp column takes it, on every database. */
export function timestamp(date: Date): Timestamp {
  return new Timestamp(date)
}

/**
 * What the three databases store alike. Drivers differ wildly on anything else: one aborts the
 * process on a boolean and cuts text at NUL, one turns an object into SQL.
 */
export function toStorable(value: unknown, storeDate?: StoreDate): Storable {
  switch (typeof value) {
    case 'string':
      if (!isExactText(value)) {
        throw new TypeError('Text with a NUL or half a surrogate pair cannot be stored exactly')
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
          'A Date cannot be stored; store its getTime() in an instant column, timestamp(date) in a timestamp column',
        )
      }
  }
  throw new TypeError(
    `A ${typeof value} cannot be stored; expected text, a number, a boolean, bytes or null`,
  )
}

/** Refuses what databases store differently; `storeDate` says what a timestamp column of this one takes. */
export function toStorables(values: readonly unknown[], storeDate?: StoreDate): Storable[] {
  const storables = new Array<Storable>(values.length)
  for (let i = 0; i < values.length; i++) storables[i] = toStorable(values[i], storeDate)
  return storables
}

const FIRST = Date.UTC(1000, 0)
const END = Date.UTC(10_000, 0)

/** Years of four digits are those that every database has. */
function storeTimestamp({ date }: Timestamp, storeDate: StoreDate | undefined): Storable {
  if (!storeDate) throw new TypeError('This dialect does not say how a timestamp is stored')
  if (date.getTime() >= FIRST && date.getTime() < END) return storeDate(date)
  throw new TypeError('A timestamp outside of the years 1000 to 9999 cannot be stored')
}

/** Rows as one value, which Postgres takes apart again. Bytes have no JSON. */
export function toJsonRows(rows: readonly object[]): string {
  if (rows.every(isPlain)) {
    const text = JSON.stringify(rows)
    // JSON writes every character that cannot be stored exactly as an escape.
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
  if (Buffer.isBuffer(storable)) throw new TypeError('Bytes cannot be stored together')
  return storable
}

/** `isWellFormed` is in every Node we support, but not yet in the ES2023 typings. */
function isExactText(text: string): boolean {
  return !text.includes('\0') && (text as string & { isWellFormed(): boolean }).isWellFormed()
}

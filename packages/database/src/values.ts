/** A value that every database keeps exactly. */
export type Storable = string | number | bigint | null | Buffer

/**
 * What the three databases store alike. Drivers differ wildly on anything else: one aborts the
 * process on a boolean and cuts text at NUL, one turns an object into SQL.
 */
export function toStorable(value: unknown): Storable {
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
      if (value instanceof Uint8Array) {
        return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
      }
      if (value instanceof Date) {
        throw new TypeError('A Date cannot be stored; store its getTime() in an instant column')
      }
  }
  throw new TypeError(
    `A ${typeof value} cannot be stored; expected text, a number, a boolean, bytes or null`,
  )
}

/** Values as they go to the database. */
export function toStorables(values: readonly unknown[]): Storable[] {
  const storables = new Array<Storable>(values.length)
  for (let i = 0; i < values.length; i++) storables[i] = toStorable(values[i])
  return storables
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
  const storable = toStorable(value)
  if (typeof storable === 'bigint') return String(storable)
  if (Buffer.isBuffer(storable)) throw new TypeError('Bytes cannot be stored together')
  return storable
}

/** `isWellFormed` is in every Node we support, but not yet in the ES2023 typings. */
function isExactText(text: string): boolean {
  return !text.includes('\0') && (text as string & { isWellFormed(): boolean }).isWellFormed()
}

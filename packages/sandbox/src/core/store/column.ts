/**
 * The values of one field for all rows of a table, by place (position in the table). Rows share few
 * distinct values (types, states, currencies), so a filter is evaluated once for each distinct
 * value, and packed rows need not be unpacked.
 */
export class StoreColumn<T> {
  readonly #read: (row: T) => unknown
  /** Values of the field by place. `undefined` marks an empty place. */
  #values: unknown[] = []
  /** Distinct values of the column, so that equal values are kept in memory only once. */
  readonly #shared = new Map<unknown, unknown>()

  /** `read` must return JSON: primitives, or objects that are never changed in place. */
  constructor(read: (row: T) => unknown) {
    this.#read = read
  }

  at(place: number): unknown {
    return this.#values[place]
  }

  put(place: number, row: T): void {
    const value = this.#read(row) ?? null
    // Most changes of a row concern other fields.
    if (this.#values[place] !== value) this.#values[place] = this.#share(value)
  }

  empty(place: number): void {
    this.#values[place] = undefined
  }

  /** Removes the places for which `isKept` returns `false`, and closes the gaps. */
  keep(isKept: (value: unknown, place: number) => boolean): void {
    this.#values = this.#values.filter(isKept)
  }

  /**
   * Returns a function that tells whether the value at a place is wanted. Valid until the table's
   * next change.
   */
  where(isWanted: (value: unknown) => boolean): (place: number) => boolean {
    const answers = new Map<unknown, boolean>([[undefined, false]])
    return (place) => {
      const value = this.#values[place]
      const known = answers.get(value)
      if (known !== undefined) return known
      const answer = isWanted(value)
      answers.set(value, answer)
      return answer
    }
  }

  #share(value: unknown): unknown {
    if (typeof value === 'number') return value
    // By now, many of the remembered values belong to no row.
    if (this.#shared.size > 2 * this.#values.length + 64) this.#shared.clear()
    const key = typeof value === 'object' ? JSON.stringify(value) : value
    const shared = this.#shared.get(key)
    if (shared !== undefined) return shared
    this.#shared.set(key, value)
    return value
  }
}

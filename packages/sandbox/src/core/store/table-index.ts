/** Maximum number of entries in the waiting list, which takes up to 8 MB. */
const MAX_WAITING = 1_048_576

/**
 * Index of a table: finds the keys of the rows that have a given value. New entries are collected
 * in a list and inserted at the first lookup, because insertion takes longer than all other work of
 * storing a row, and most indexes are never read.
 */
export class TableIndex<T> {
  readonly #keyOf: (row: T) => string | null
  /**
   * Keys of rows by value. A single key, the usual case, is stored as a plain string, which takes
   * less memory than a list.
   */
  readonly #keys = new Map<string, string | string[]>()
  /**
   * The value under which each row is indexed, by key. `null` if the values of rows never change.
   */
  readonly #valueOf: Map<string, string> | null
  /** Entries that are not inserted yet, as a flat list: key, value, key, value, … */
  #waiting: Array<string | null> = []

  constructor(keyOf: (row: T) => string | null, fixed = false) {
    this.#keyOf = keyOf
    this.#valueOf = fixed ? null : new Map()
  }

  /** Returns the keys of the rows with this value, oldest first. */
  keys(value: string): readonly string[] {
    this.#sortIn()
    const found = this.#keys.get(value) ?? []
    return typeof found === 'string' ? [found] : found
  }

  put(key: string, row: T, isNew: boolean): void {
    if (this.#valueOf === null && !isNew) return
    const value = this.#keyOf(row)
    if (this.#valueOf === null && value === null) return
    this.#waiting.push(key, value)
    if (this.#waiting.length > MAX_WAITING) this.#sortIn()
  }

  #sortIn(): void {
    const waiting = this.#waiting
    for (let at = 0; at < waiting.length; at += 2) {
      this.#place(waiting[at] as string, waiting[at + 1] ?? null)
    }
    if (waiting.length > 0) this.#waiting = []
  }

  #place(key: string, value: string | null): void {
    const before = this.#valueOf?.get(key) ?? null
    if (value === before) return
    if (before !== null) this.#removeKey(before, key)
    if (value === null) return
    this.#valueOf?.set(key, value)
    const others = this.#keys.get(value)
    if (others === undefined) this.#keys.set(value, key)
    else if (typeof others === 'string') this.#keys.set(value, [others, key])
    else others.push(key)
  }

  /** Removes a row from the index. `read` returns the row as it was indexed. */
  remove(key: string, read: () => T | undefined): void {
    this.#sortIn()
    const row = this.#valueOf === null ? read() : undefined
    const value = row === undefined ? this.#valueOf?.get(key) : this.#keyOf(row)
    if (typeof value === 'string') this.#removeKey(value, key)
  }

  clear(): void {
    this.#waiting = []
    this.#keys.clear()
    this.#valueOf?.clear()
  }

  #removeKey(value: string, key: string): void {
    this.#valueOf?.delete(key)
    const keys = this.#keys.get(value)
    if (Array.isArray(keys) && keys.length > 1) keys.splice(keys.indexOf(key), 1)
    else this.#keys.delete(value)
  }
}

/** Up to so many keys are a list, which takes a third of a set's memory. */
const SHORT = 32
/** So many entries may wait at most: 8 MB. */
const MOST_WAITING = 1_048_576

/**
 * Which rows have which value. What is put waits in a list until somebody asks: most indexes are never asked in a year of
 * renewals, and an entry in each takes longer than all the rest of storing a row.
 */
export class TableIndex<T> {
  readonly #keyOf: (row: T) => string | null
  /** Most values are those of one row, such as the invoice of a line: a list for each would weigh more. */
  readonly #keys = new Map<string, string | string[] | Set<string>>()
  /** The value that each row is under; null when it is known to stay the same. */
  readonly #valueOf: Map<string, string> | null
  /** A row's key and its value, of one after the other. */
  #waiting: Array<string | null> = []

  constructor(keyOf: (row: T) => string | null, fixed = false) {
    this.#keyOf = keyOf
    this.#valueOf = fixed ? null : new Map()
  }

  /** No row's value ever changes. */
  get isFixed(): boolean {
    return this.#valueOf === null
  }

  /** How many rows have this value. */
  count(value: string): number {
    this.#sortIn()
    const found = this.#keys.get(value)
    if (typeof found !== 'object') return found === undefined ? 0 : 1
    return Array.isArray(found) ? found.length : found.size
  }

  /** Whether the row with this key has this value. */
  isUnder(value: string, key: string): boolean {
    this.#sortIn()
    if (this.#valueOf) return this.#valueOf.get(key) === value
    const found = this.#keys.get(value) ?? []
    if (typeof found === 'string') return found === key
    return Array.isArray(found) ? found.includes(key) : found.has(key)
  }

  /** The oldest first. */
  keys(value: string): Iterable<string> {
    this.#sortIn()
    const found = this.#keys.get(value) ?? []
    return typeof found === 'string' ? [found] : found
  }

  put(key: string, row: T): void {
    const value = this.#keyOf(row)
    if (value === null && this.isFixed) return
    this.#waiting.push(key, value)
    if (this.#waiting.length > MOST_WAITING) this.#sortIn()
  }

  /** `read` gives the row as it was put. */
  remove(key: string, read: () => T | undefined): void {
    this.#sortIn()
    const value = this.#valueOf ? this.#valueOf.get(key) : this.#valueIn(read())
    this.#valueOf?.delete(key)
    if (value !== undefined && value !== null) this.#take(value, key)
  }

  clear(): void {
    this.#waiting = []
    this.#keys.clear()
    this.#valueOf?.clear()
  }

  #sortIn(): void {
    const waiting = this.#waiting
    if (waiting.length === 0) return
    for (let at = 0; at < waiting.length; at += 2) {
      this.#place(waiting[at] as string, waiting[at + 1] ?? null)
    }
    // A long list is left to the collector.
    if (waiting.length < SHORT) waiting.length = 0
    else this.#waiting = []
  }

  #place(key: string, value: string | null): void {
    if (this.#valueOf) {
      const before = this.#valueOf.get(key)
      if (before === (value ?? undefined)) return
      if (before !== undefined) this.#take(before, key)
      if (value === null) this.#valueOf.delete(key)
      else this.#valueOf.set(key, value)
    }
    if (value !== null) this.#add(value, key)
  }

  #valueIn(row: T | undefined): string | null {
    return row === undefined ? null : this.#keyOf(row)
  }

  #add(value: string, key: string): void {
    const others = this.#keys.get(value)
    if (others === undefined) this.#keys.set(value, key)
    else if (typeof others === 'string') {
      if (others !== key) this.#keys.set(value, [others, key])
    } else if (!Array.isArray(others)) others.add(key)
    else if (!others.includes(key)) {
      if (others.length < SHORT) others.push(key)
      else this.#keys.set(value, new Set(others).add(key))
    }
  }

  #take(value: string, key: string): void {
    const keys = this.#keys.get(value)
    if (Array.isArray(keys)) {
      const place = keys.indexOf(key)
      if (place >= 0) keys.splice(place, 1)
      if (keys.length > 0) return
    } else if (typeof keys === 'object') {
      keys.delete(key)
      if (keys.size > 0) return
    } else if (keys !== key) return
    this.#keys.delete(value)
  }
}

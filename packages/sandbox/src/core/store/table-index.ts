/** Which rows have which value. */
export class TableIndex<T> {
  readonly #keyOf: (row: T) => string | null
  /** Most values are those of one row, such as the invoice of a line: a set for each would weigh more. */
  readonly #keys = new Map<string, string | Set<string>>()
  readonly #valueOf = new Map<string, string>()

  constructor(keyOf: (row: T) => string | null) {
    this.#keyOf = keyOf
  }

  /** How many rows have this value. */
  count(value: string): number {
    const found = this.#keys.get(value)
    return typeof found === 'string' ? 1 : (found?.size ?? 0)
  }

  has(row: T, value: string): boolean {
    return this.#keyOf(row) === value
  }

  keys(value: string): Iterable<string> {
    const found = this.#keys.get(value) ?? []
    return typeof found === 'string' ? [found] : found
  }

  put(key: string, row: T): void {
    const value = this.#keyOf(row)
    const before = this.#valueOf.get(key)
    if (before === value) return
    if (before !== undefined) this.remove(key)
    if (value === null) return
    this.#valueOf.set(key, value)
    const others = this.#keys.get(value)
    if (others === undefined) this.#keys.set(value, key)
    else if (typeof others === 'string') this.#keys.set(value, new Set([others, key]))
    else others.add(key)
  }

  remove(key: string): void {
    const value = this.#valueOf.get(key)
    if (value === undefined) return
    this.#valueOf.delete(key)
    const keys = this.#keys.get(value)
    if (typeof keys === 'object' && keys.delete(key) && keys.size > 0) return
    this.#keys.delete(value)
  }

  clear(): void {
    this.#keys.clear()
    this.#valueOf.clear()
  }
}

import { DueQueue } from './due-queue.ts'

/**
 * Objects in the order they were first set. After changing an object call `set` again:
 * indexes and due times follow only then.
 */
export class Table<T extends object> {
  readonly #rows = new Map<string, T>()
  /** Keys in order, deleted ones included until the next tidying. */
  #keys: string[] = []
  readonly #indexes = new Map<string, TableIndex<T>>()
  readonly #queues = new Map<string, { dueOf: (row: T) => number | null; queue: DueQueue }>()

  get size(): number {
    return this.#rows.size
  }

  get(key: string): T | undefined {
    return this.#rows.get(key)
  }

  has(key: string): boolean {
    return this.#rows.has(key)
  }

  set(key: string, row: T): void {
    if (!this.#rows.has(key)) this.#keys.push(key)
    this.#rows.set(key, row)
    for (const index of this.#indexes.values()) index.put(key, row)
    for (const { dueOf, queue } of this.#queues.values()) queue.set(key, dueOf(row))
  }

  delete(key: string): void {
    if (!this.#rows.delete(key)) return
    if (this.#keys.length > 2 * this.#rows.size + 64) this.#keys = [...this.#rows.keys()]
    for (const index of this.#indexes.values()) index.remove(key)
    for (const { queue } of this.#queues.values()) queue.set(key, null)
  }

  /** Oldest first. */
  values(): IterableIterator<T> {
    return this.#rows.values()
  }

  *newestFirst(): IterableIterator<T> {
    // A key set again after a delete appears twice; only its last place counts.
    const seen = this.#keys.length > this.#rows.size ? new Set<string>() : null
    for (let at = this.#keys.length - 1; at >= 0; at--) {
      const key = this.#keys[at] as string
      const row = this.#rows.get(key)
      if (!row || seen?.has(key)) continue
      seen?.add(key)
      yield row
    }
  }

  entries(): Array<[string, T]> {
    return [...this.#rows]
  }

  clear(): void {
    this.#rows.clear()
    this.#keys = []
    for (const index of this.#indexes.values()) index.clear()
    for (const { queue } of this.#queues.values()) queue.clear()
  }

  /** Declares an index, once; rows whose key is null are left out of it. */
  indexBy(name: string, keyOf: (row: T) => string | null): void {
    const index = new TableIndex(keyOf)
    this.#indexes.set(name, index)
    for (const [key, row] of this.#rows) index.put(key, row)
  }

  /** The rows with this index key, oldest first. */
  findBy(name: string, value: string): T[] {
    const keys = this.#indexes.get(name)?.keys(value)
    if (!keys) return []
    const found: T[] = []
    for (const key of keys) {
      const row = this.#rows.get(key)
      if (row) found.push(row)
    }
    return found
  }

  /** Declares when a row falls due (epoch ms), and returns the queue of those that do. */
  dueBy(name: string, dueOf: (row: T) => number | null): DueQueue {
    const queue = new DueQueue()
    this.#queues.set(name, { dueOf, queue })
    for (const [key, row] of this.#rows) queue.set(key, dueOf(row))
    return queue
  }
}

class TableIndex<T> {
  readonly #keyOf: (row: T) => string | null
  readonly #sets = new Map<string, Set<string>>()
  readonly #valueOf = new Map<string, string>()

  constructor(keyOf: (row: T) => string | null) {
    this.#keyOf = keyOf
  }

  keys(value: string): ReadonlySet<string> | undefined {
    return this.#sets.get(value)
  }

  put(key: string, row: T): void {
    const value = this.#keyOf(row)
    const before = this.#valueOf.get(key)
    if (before === value) return
    if (before !== undefined) this.remove(key)
    if (value === null) return
    this.#valueOf.set(key, value)
    const set = this.#sets.get(value)
    if (set) set.add(key)
    else this.#sets.set(value, new Set([key]))
  }

  remove(key: string): void {
    const value = this.#valueOf.get(key)
    if (value === undefined) return
    this.#valueOf.delete(key)
    const set = this.#sets.get(value)
    set?.delete(key)
    if (set?.size === 0) this.#sets.delete(value)
  }

  clear(): void {
    this.#sets.clear()
    this.#valueOf.clear()
  }
}

import { DueQueue } from './due-queue.ts'

/** Everything a sandbox knows but the time, as plain JSON. */
export interface StoreSnapshot {
  /** What the ids are drawn from. */
  readonly seed: number
  /** How much has been drawn: the next id is the same after a restore. */
  readonly drawn: number
  /** The last number drawn, by what it numbers. */
  readonly counters: Readonly<Record<string, number>>
  /** Rows by table, oldest first. Their shape is ours and changes between versions. */
  readonly tables: Readonly<Record<string, ReadonlyArray<readonly [key: string, value: unknown]>>>
}

/** Named tables of plain JSON objects, and the ids drawn for them. Memory only; a snapshot is JSON. */
export class Store {
  #seed: number
  #drawn = 0
  readonly #counters = new Map<string, number>()
  readonly #tables = new Map<string, Table<object>>()

  constructor(seed = 1) {
    this.#seed = seed
  }

  table<T extends object>(name: string): Table<T> {
    let table = this.#tables.get(name)
    if (!table) {
      table = new Table<object>()
      this.#tables.set(name, table)
    }
    return table as unknown as Table<T>
  }

  /** Letters and digits that look random, are the same on every run, and never repeat in practice. */
  randomText(length: number, alphabet = BASE62): string {
    let text = ''
    while (text.length < length) {
      let word = mix(this.#seed, this.#drawn++)
      for (let i = 0; i < 5 && text.length < length; i++) {
        text += alphabet[word % alphabet.length]
        word = Math.floor(word / alphabet.length)
      }
    }
    return text
  }

  /** `cus_…`: a prefix and random text. */
  nextId(prefix: string, length = 24): string {
    return prefix + this.randomText(length)
  }

  /** 1, 2, 3 … for each name. */
  nextNumber(name: string): number {
    const next = (this.#counters.get(name) ?? 0) + 1
    this.#counters.set(name, next)
    return next
  }

  snapshot(): StoreSnapshot {
    const tables: Record<string, Array<readonly [string, unknown]>> = {}
    for (const [name, table] of this.#tables) tables[name] = structuredClone(table.entries())
    return { ...this.head(), tables }
  }

  /** What is not in a table. */
  head(): Pick<StoreSnapshot, 'seed' | 'drawn' | 'counters'> {
    return { seed: this.#seed, drawn: this.#drawn, counters: Object.fromEntries(this.#counters) }
  }

  /** Every row of every table, oldest first; not copied, so they must be used at once. */
  *rows(): Generator<readonly [table: string, key: string, row: object]> {
    for (const [name, table] of this.#tables) {
      for (const [key, row] of table.entries()) yield [name, key, row]
    }
  }

  restore(snapshot: StoreSnapshot): void {
    this.adopt(structuredClone(snapshot))
  }

  /** As `restore`, for a snapshot that nobody else holds: its objects become the rows. */
  adopt(snapshot: StoreSnapshot): void {
    this.#seed = snapshot.seed
    this.#drawn = snapshot.drawn
    this.#counters.clear()
    for (const [name, value] of Object.entries(snapshot.counters)) this.#counters.set(name, value)
    for (const table of this.#tables.values()) table.clear()
    for (const [name, entries] of Object.entries(snapshot.tables)) {
      const table = this.table(name)
      for (const [key, value] of entries) table.set(key, value as object)
    }
  }
}

/**
 * Objects in the order they were first set. After changing an object call `set` again, so that
 * indexes and due times follow.
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

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** 32 well-mixed bits of (seed, n): two rounds of MurmurHash3's finalizer. */
function mix(seed: number, n: number): number {
  let h = finalize(n ^ Math.imul(seed, 0x9e3779b1))
  h = finalize(h + Math.imul(seed, 0x85ebca6b) + Math.floor(n / 0x1_0000_0000))
  return h
}

function finalize(value: number): number {
  let h = value | 0
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}

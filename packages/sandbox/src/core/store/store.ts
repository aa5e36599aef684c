import { copyJson } from './copy-json.ts'
import { Table } from './table.ts'

/** The complete state of a sandbox except the time, as plain JSON. */
export interface StoreSnapshot {
  /** Seed from which ids are generated. */
  readonly seed: number
  /**
   * Number of values drawn from the seed so far. Needed to generate the same next id after a
   * restore.
   */
  readonly drawn: number
  /** Last number drawn from each counter, by the counter's name. */
  readonly counters: Readonly<Record<string, number>>
  /** Rows by table, oldest first. Their format is internal and changes between versions. */
  readonly tables: Readonly<Record<string, ReadonlyArray<readonly [key: string, value: unknown]>>>
}

/** The part of a store's state that is not in tables. */
export type StoreHead = Pick<StoreSnapshot, 'seed' | 'drawn' | 'counters'>

/** A row that was changed, added (at the end of its table) or deleted. */
export type RowChange =
  | readonly [table: string, key: string, row: object]
  | readonly [table: string, key: string, row: object, isNew: true]
  | readonly [table: string, key: string]

/** Persists a store's changes. */
export interface StoreWatcher {
  readonly onChange: () => void
  readonly flush: () => void
}

/**
 * In-memory tables of plain JSON objects, and the generator of their ids. A snapshot is plain JSON.
 */
export class Store {
  #seed: number
  #drawn = 0
  readonly #counters = new Map<string, number>()
  readonly #tables = new Map<string, Table<object>>()
  readonly #packed: Array<{ packOld(): void }> = []
  #watcher: StoreWatcher | null = null

  constructor(seed = 1) {
    this.#seed = seed
  }

  table<T extends object>(name: string): Table<T> {
    let table = this.#tables.get(name)
    if (!table) {
      table = new Table<object>((packed) => this.#packed.push(packed))
      if (this.#watcher) table.watch(this.#watcher.onChange)
      this.#tables.set(name, table)
    }
    return table as unknown as Table<T>
  }

  /**
   * Draws random-looking letters and digits that are the same on every run and practically never
   * repeat.
   */
  randomText(length: number, alphabet = BASE62): string {
    return textOf(length, alphabet, () => mix(this.#seed, this.#drawn++))
  }

  /**
   * Draws an id for a read-only call. Uses a separate sequence, so that reads do not change the ids
   * of later objects.
   */
  nextReadId(prefix: string, length: number): string {
    const read = this.nextNumber('reads')
    let drawn = read * 16
    return prefix + textOf(length, BASE62, () => mix(~this.#seed, drawn++))
  }

  /** Draws an id: a prefix such as `cus_` and random text. */
  nextId(prefix: string, length = 24): string {
    return prefix + this.randomText(length)
  }

  /** Returns 1, 2, 3 … separately for each name. */
  nextNumber(name: string): number {
    const next = (this.#counters.get(name) ?? 0) + 1
    this.#counters.set(name, next)
    return next
  }

  snapshot(): StoreSnapshot {
    const tables: Record<string, Array<readonly [string, unknown]>> = {}
    for (const [name, table] of this.#tables) tables[name] = copyJson([...table.entries()])
    return { ...this.head(), tables }
  }

  head(): StoreHead {
    return { seed: this.#seed, drawn: this.#drawn, counters: Object.fromEntries(this.#counters) }
  }

  setHead({ seed, drawn, counters }: StoreHead): void {
    this.#seed = seed
    this.#drawn = drawn
    this.#counters.clear()
    for (const [name, value] of Object.entries(counters)) this.#counters.set(name, value)
  }

  /** Restores a persisted row. */
  put(table: string, key: string, row: object): void {
    this.table(table).set(key, row)
    this.packOld()
  }

  remove(table: string, key: string): void {
    this.table(table).delete(key)
  }

  /** Reports every change of a row to `watcher` from now on, and remembers which rows changed. */
  watch(watcher: StoreWatcher): void {
    this.#watcher = watcher
    for (const table of this.#tables.values()) table.watch(watcher.onChange)
  }

  /** Persists all changes so far, if the store is persisted at all. */
  flush(): void {
    this.#watcher?.flush()
  }

  unwatch(): void {
    this.#watcher = null
    for (const table of this.#tables.values()) table.unwatch()
  }

  /**
   * Returns the rows changed since the last call, in their present state, and resets the list of
   * changes.
   */
  *takeChanges(): Generator<RowChange> {
    for (const [name, table] of this.#tables) {
      for (const [key, row, isNew] of table.takeChanges()) {
        if (row === undefined) yield [name, key]
        else if (isNew) yield [name, key, row, true]
        else yield [name, key, row]
      }
    }
  }

  /** Resets the list of changed rows. */
  dropChanges(): void {
    for (const table of this.#tables.values()) table.dropChanges()
  }

  /**
   * Iterates every row of every table, oldest first. Rows are not copied, so use them immediately.
   */
  *rows(): Generator<readonly [table: string, key: string, row: object]> {
    for (const [name, table] of this.#tables) {
      for (const [key, row] of table.entries()) yield [name, key, row]
    }
  }

  /**
   * Packs old rows. Call it only between steps, when no caller holds a row (see `Table.packOld`).
   */
  packOld(): void {
    for (const table of this.#packed) table.packOld()
  }

  restore(snapshot: StoreSnapshot): void {
    this.adopt(copyJson(snapshot))
  }

  /**
   * Restores a snapshot without copying it: its objects become the rows, so no one else may use
   * them.
   */
  adopt(snapshot: StoreSnapshot): void {
    this.setHead(snapshot)
    for (const table of this.#tables.values()) table.clear()
    for (const [name, entries] of Object.entries(snapshot.tables)) {
      this.table(name)
      for (const [key, value] of entries) this.put(name, key, value as object)
    }
  }
}

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

const PAIRS = new Map<string, readonly string[]>()

/** All pairs of characters. Drawing two characters at once takes half the time. */
function pairsOf(alphabet: string): readonly string[] {
  let pairs = PAIRS.get(alphabet)
  if (!pairs) {
    const all = [...alphabet]
    pairs = all.flatMap((second) => all.map((first) => first + second))
    PAIRS.set(alphabet, pairs)
  }
  return pairs
}

/** Draws text, five characters from each 32-bit word. */
function textOf(length: number, alphabet: string, nextWord: () => number): string {
  const pairs = pairsOf(alphabet)
  let text = ''
  while (text.length < length) {
    let word = nextWord()
    let left = Math.min(5, length - text.length)
    for (; left > 1; left -= 2) {
      text += pairs[word % pairs.length]
      word = Math.floor(word / pairs.length)
    }
    if (left === 1) text += alphabet[word % alphabet.length]
  }
  return text
}

/** Hashes (seed, n) to 32 well-mixed bits: two rounds of MurmurHash3's finalizer. */
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

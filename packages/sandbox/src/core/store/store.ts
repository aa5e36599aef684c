import { copyJson } from './copy-json.ts'
import { StoreTable } from './table.ts'

/** The complete state of a sandbox as plain JSON, except the time of its clock. */
export interface StoreSnapshot {
  /** Seed from which object ids are generated. */
  readonly seed: number
  /**
   * Number of random values drawn from the seed so far. With it, a restored sandbox generates the
   * same next id.
   */
  readonly drawn: number
  /** Current value of each counter, by the name of the counter. */
  readonly counters: Readonly<Record<string, number>>
  /**
   * Rows of each table, oldest first. The format of rows is internal and changes between versions
   * of the sandbox.
   */
  readonly tables: Readonly<Record<string, ReadonlyArray<readonly [key: string, value: unknown]>>>
}

/**
 * The state of a store without its tables: the seed, the number of drawn values, and the counters.
 */
export type StoreSnapshotHead = Pick<StoreSnapshot, 'seed' | 'drawn' | 'counters'>

/**
 * A change of one row: the changed row, a new row (at the end of its table), or the key of a
 * deleted row.
 */
export type RowChange =
  | readonly [table: string, key: string, row: object]
  | readonly [table: string, key: string, row: object, isNew: true]
  | readonly [table: string, key: string]

/** Receives a store's changes in order to persist them. */
export interface StoreChangeListener {
  readonly onChange: () => void
  readonly flush: () => void
}

/**
 * The in-memory database of a sandbox: tables of plain JSON objects, and the generator of their
 * ids.
 */
export class SandboxStore {
  #seed: number
  #drawn = 0
  readonly #counters = new Map<string, number>()
  readonly #tables = new Map<string, StoreTable<object>>()
  readonly #packed: Array<{ packOld(): void }> = []
  #watcher: StoreChangeListener | null = null

  constructor(seed = 1) {
    this.#seed = seed
  }

  table<T extends object>(name: string): StoreTable<T> {
    let table = this.#tables.get(name)
    if (!table) {
      table = new StoreTable<object>((packed) => this.#packed.push(packed))
      if (this.#watcher) table.watch(this.#watcher.onChange)
      this.#tables.set(name, table)
    }
    return table as unknown as StoreTable<T>
  }

  /**
   * Generates letters and digits that look random, are the same on every run with the same seed,
   * and practically never repeat.
   */
  randomText(length: number, alphabet = BASE62): string {
    return drawRandomText(length, alphabet, () => hashSeed(this.#seed, this.#drawn++))
  }

  /**
   * Generates an id for a read-only call. It has a separate sequence, so that reads do not change
   * the ids of later objects.
   */
  nextReadId(prefix: string, length: number): string {
    const read = this.nextNumber('reads')
    let drawn = read * 16
    return prefix + drawRandomText(length, BASE62, () => hashSeed(~this.#seed, drawn++))
  }

  /** Generates an object id: a prefix such as `cus_`, followed by random text. */
  nextId(prefix: string, length = 24): string {
    return prefix + this.randomText(length)
  }

  /** Returns the next number (1, 2, 3 …) of the counter with this name. */
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

  head(): StoreSnapshotHead {
    return { seed: this.#seed, drawn: this.#drawn, counters: Object.fromEntries(this.#counters) }
  }

  setHead({ seed, drawn, counters }: StoreSnapshotHead): void {
    this.#seed = seed
    this.#drawn = drawn
    this.#counters.clear()
    for (const [name, value] of Object.entries(counters)) this.#counters.set(name, value)
  }

  /** Puts a row that was read from a file into its table. */
  put(table: string, key: string, row: object): void {
    this.table(table).set(key, row)
    this.packOld()
  }

  remove(table: string, key: string): void {
    this.table(table).delete(key)
  }

  /** Reports every change of a row to `watcher` from now on, and remembers which rows changed. */
  watch(watcher: StoreChangeListener): void {
    this.#watcher = watcher
    for (const table of this.#tables.values()) table.watch(watcher.onChange)
  }

  /** Writes all changes so far to the journal, if the store is persisted. */
  flush(): void {
    this.#watcher?.flush()
  }

  unwatch(): void {
    this.#watcher = null
    for (const table of this.#tables.values()) table.unwatch()
  }

  /**
   * Returns the rows that changed since the last call, in their present state, and starts a new
   * list of changes.
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

  /** Clears the record of which rows have changed. */
  dropChanges(): void {
    for (const table of this.#tables.values()) table.dropChanges()
  }

  /**
   * Iterates over all rows of all tables, oldest first. Rows are not copied, so use each one
   * immediately.
   */
  *rows(): Generator<readonly [table: string, key: string, row: object]> {
    for (const [name, table] of this.#tables) {
      for (const [key, row] of table.entries()) yield [name, key, row]
    }
  }

  /**
   * Packs old rows of all tables to save memory. Call it only between steps, when no caller holds a
   * row (see `Table.packOld`).
   */
  packOld(): void {
    for (const table of this.#packed) table.packOld()
  }

  restore(snapshot: StoreSnapshot): void {
    this.adopt(copyJson(snapshot))
  }

  /**
   * Restores a snapshot without copying it. The objects of the snapshot become the rows, so no
   * other code may use them afterwards.
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

/**
 * Returns all pairs of characters of an alphabet. Drawing two characters at once takes half the
 * time.
 */
function listCharacterPairs(alphabet: string): readonly string[] {
  let pairs = PAIRS.get(alphabet)
  if (!pairs) {
    const all = [...alphabet]
    pairs = all.flatMap((second) => all.map((first) => first + second))
    PAIRS.set(alphabet, pairs)
  }
  return pairs
}

/** Draws text, five characters from each 32-bit word. */
function drawRandomText(length: number, alphabet: string, nextWord: () => number): string {
  const pairs = listCharacterPairs(alphabet)
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
function hashSeed(seed: number, n: number): number {
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

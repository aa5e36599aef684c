import { copyJson } from './copy-json.ts'
import { Table } from './table.ts'

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

/** What a store holds that is not in a table. */
export type StoreHead = Pick<StoreSnapshot, 'seed' | 'drawn' | 'counters'>

/** A row that is changed, new (with a place at the end of its table), or gone. */
export type RowChange =
  | readonly [table: string, key: string, row: object]
  | readonly [table: string, key: string, row: object, isNew: true]
  | readonly [table: string, key: string]

/** Who keeps a store. */
export interface StoreWatcher {
  readonly onChange: () => void
  readonly flush: () => void
}

/** Named tables of plain JSON objects, and the ids drawn for them. Memory only; a snapshot is JSON. */
export class Store {
  #seed: number
  #drawn = 0
  readonly #counters = new Map<string, number>()
  readonly #tables = new Map<string, Table<object>>()
  /** Tables with rows to pack. */
  readonly #full = new Set<{ packOld(): void }>()
  #watcher: StoreWatcher | null = null

  constructor(seed = 1) {
    this.#seed = seed
  }

  table<T extends object>(name: string): Table<T> {
    let table = this.#tables.get(name)
    if (!table) {
      table = new Table<object>((full) => this.#full.add(full))
      if (this.#watcher) table.watch(this.#watcher.onChange)
      this.#tables.set(name, table)
    }
    return table as unknown as Table<T>
  }

  /** Letters and digits that look random, are the same on every run, and never repeat in practice. */
  randomText(length: number, alphabet = BASE62): string {
    return textOf(length, alphabet, () => mix(this.#seed, this.#drawn++))
  }

  /** An id for a call that only reads. It is drawn apart, so that looking changes no id of what happens afterwards. */
  nextReadId(prefix: string, length: number): string {
    const read = this.nextNumber('reads')
    let drawn = read * 16
    return prefix + textOf(length, BASE62, () => mix(~this.#seed, drawn++))
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

  /** A row that was kept, back in its place. */
  put(table: string, key: string, row: object): void {
    this.table(table).set(key, row)
    this.packOld()
  }

  remove(table: string, key: string): void {
    this.table(table).delete(key)
  }

  /** From now on tells of every change of a row, and remembers which rows these are. */
  watch(watcher: StoreWatcher): void {
    this.#watcher = watcher
    for (const table of this.#tables.values()) table.watch(watcher.onChange)
  }

  /** Returns when what happened until now is kept, if anybody keeps it. */
  flush(): void {
    this.#watcher?.flush()
  }

  unwatch(): void {
    this.#watcher = null
    for (const table of this.#tables.values()) table.unwatch()
  }

  /** The rows that changed since the last time, as they are now, and forgets that they did. */
  *takeChanges(): Generator<RowChange> {
    for (const [name, table] of this.#tables) {
      for (const [key, row, isNew] of table.takeChanges()) {
        if (row === undefined) yield [name, key]
        else if (isNew) yield [name, key, row, true]
        else yield [name, key, row]
      }
    }
  }

  /** Forgets which rows changed. */
  dropChanges(): void {
    for (const table of this.#tables.values()) table.dropChanges()
  }

  /** Every row of every table, oldest first; not copied, so they must be used at once. */
  *rows(): Generator<readonly [table: string, key: string, row: object]> {
    for (const [name, table] of this.#tables) {
      for (const [key, row] of table.entries()) yield [name, key, row]
    }
  }

  /** Called between steps, when nobody holds a row: see `Table.packOld`. */
  packOld(): void {
    if (this.#full.size === 0) return
    for (const table of this.#full) table.packOld()
    this.#full.clear()
  }

  restore(snapshot: StoreSnapshot): void {
    this.adopt(copyJson(snapshot))
  }

  /** As `restore`, for a snapshot that nobody else holds: its objects become the rows. */
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

/** Two characters at once take half of the time. */
function pairsOf(alphabet: string): readonly string[] {
  let pairs = PAIRS.get(alphabet)
  if (!pairs) {
    const all = [...alphabet]
    pairs = all.flatMap((second) => all.map((first) => first + second))
    PAIRS.set(alphabet, pairs)
  }
  return pairs
}

/** Five characters of each word, which is drawn when it is needed. */
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

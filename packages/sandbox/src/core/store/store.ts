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
    for (const [name, table] of this.#tables) tables[name] = copyJson(table.entries())
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
    this.adopt(copyJson(snapshot))
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

import { DueQueue } from './due-queue.ts'
import { NewestFirst, type Places } from './newest-first.ts'
import type { Packing } from './packer.ts'
import { TableIndex } from './table-index.ts'

/**
 * Objects in the order they were first set. After changing an object call `set` again:
 * indexes and due times follow only then.
 */
export class Table<T extends object> {
  /** A text is a packed row. As a list it would keep every string it names alive. */
  readonly #rows = new Map<string, T | string>()
  /** How many rows stay unpacked, and what packs the others; null when none is ever packed. */
  #packing: { readonly most: number; readonly by: Packing<T> } | null = null
  /** Keys of the rows that are not packed, in the order they came. Empty when none is ever packed. */
  readonly #unpacked = new Set<string>()
  /** Keys in order, deleted ones included until the next tidying. */
  #keys: string[] = []
  /** Before this place of `#keys` all are deleted. */
  #first = 0
  /** Where each key is in `#keys`: made for the first list that asks, and kept from then on. */
  #places: Map<string, number> | null = null
  readonly #indexes = new Map<string, TableIndex<T>>()
  readonly #queues = new Map<string, { dueOf: (row: T) => number | null; queue: DueQueue }>()
  /** Whom changes are told to, and the keys that changed, those of new rows with true. */
  #watch: { readonly onChange: () => void; readonly keys: Map<string, boolean> } | null = null
  readonly #tellFull: (table: { packOld(): void }) => void

  /** `tellFull` is called when there is something for `packOld` to do. */
  constructor(tellFull: (table: { packOld(): void }) => void = () => undefined) {
    this.#tellFull = tellFull
  }

  get size(): number {
    return this.#rows.size
  }

  get(key: string): T | undefined {
    const kept = this.#rows.get(key)
    if (typeof kept !== 'string') return kept
    // Whoever changes the row and whoever asks for it next must have the same object.
    const row = this.#read(kept)
    this.#rows.set(key, row)
    this.#noteUnpacked(key)
    return row
  }

  has(key: string): boolean {
    return this.#rows.has(key)
  }

  set(key: string, row: T): void {
    this.#keep(key, row)
    this.#noteUnpacked(key)
    for (const index of this.#indexes.values()) index.put(key, row)
    for (const { dueOf, queue } of this.#queues.values()) queue.set(key, dueOf(row))
  }

  /** As `set`, for a row that is packed already and that no index or queue needs to know. */
  setPacked(key: string, packed: string): void {
    this.#keep(key, packed)
    this.#unpacked.delete(key)
  }

  delete(key: string): void {
    if (!this.#rows.delete(key)) return
    this.#noteChange(key, false)
    this.#unpacked.delete(key)
    if (this.#keys.length > 2 * this.#rows.size + 64) {
      this.#keys = [...this.#rows.keys()]
      this.#first = 0
      this.#places = null
    }
    for (const index of this.#indexes.values()) index.remove(key)
    for (const { queue } of this.#queues.values()) queue.set(key, null)
  }

  /** Oldest first. To read only: a packed row stays packed, so a change to it would be lost. */
  *values(): IterableIterator<T> {
    for (const kept of this.#rows.values()) yield this.#read(kept)
  }

  /**
   * Deletes rows from the oldest on, until one is to stay. For tables in which no key is set again after its
   * delete. A Map would walk through all the holes that deleted rows have left before it finds its first.
   */
  deleteOldest(isOld: (kept: T | string) => boolean): void {
    for (; this.#first < this.#keys.length; this.#first++) {
      const key = this.#keys[this.#first] as string
      const kept = this.#rows.get(key)
      if (!kept) continue
      if (!isOld(kept)) return
      this.delete(key)
      // Tidying has begun anew.
      if (this.#first === 0) this.#first = -1
    }
  }

  /** To read only, as `values`. */
  newestFirst(): NewestFirst<T> {
    const places: Places<T> = {
      count: () => this.#keys.length,
      placeOf: (key) => (this.#rows.has(key) ? (this.#findPlaces().get(key) ?? null) : null),
      rowAt: (place) => {
        const key = this.#keys[place] as string
        const kept = this.#rows.get(key)
        if (kept === undefined) return undefined
        // A key set again after a delete is there twice; only its last place counts.
        const twice = this.#keys.length > this.#rows.size && this.#findPlaces().get(key) !== place
        return twice ? undefined : this.#read(kept)
      },
    }
    return new NewestFirst(places)
  }

  /** As `newestFirst`, of the rows with this index key alone. */
  newestBy(name: string, value: string): NewestFirst<T> {
    const index = this.#indexes.get(name)
    if (!index) throw new TypeError(`There is no index ${name}`)
    // Where they are many, the next one is near.
    if (index.count(value) * 8 > this.size) {
      return this.newestFirst().filter((row) => index.has(row, value))
    }
    const places = this.#findPlaces()
    const placeOf = (key: string) => places.get(key) ?? 0
    const keys = [...index.keys(value)].sort((a, b) => placeOf(a) - placeOf(b))
    return new NewestFirst<T>({
      count: () => keys.length,
      placeOf: (key) => {
        const place = keys.indexOf(key)
        return place < 0 ? null : place
      },
      rowAt: (place) => {
        const kept = this.#rows.get(keys[place] as string)
        return kept === undefined ? undefined : this.#read(kept)
      },
    })
  }

  /** To read only, as `values`. */
  *entries(): IterableIterator<[string, T]> {
    for (const [key, kept] of this.#rows) yield [key, this.#read(kept)]
  }

  clear(): void {
    for (const key of this.#rows.keys()) this.#noteChange(key, false)
    this.#rows.clear()
    this.#unpacked.clear()
    this.#keys = []
    this.#first = 0
    this.#places = null
    for (const index of this.#indexes.values()) index.clear()
    for (const { queue } of this.#queues.values()) queue.clear()
  }

  /** Declares an index, once; rows whose key is null are left out of it. */
  indexBy(name: string, keyOf: (row: T) => string | null): void {
    const index = new TableIndex(keyOf)
    this.#indexes.set(name, index)
    for (const [key, row] of this.entries()) index.put(key, row)
  }

  /** The rows with this index key, oldest first. */
  findBy(name: string, value: string): T[] {
    const found: T[] = []
    for (const key of this.#indexes.get(name)?.keys(value) ?? []) {
      const row = this.get(key)
      if (row) found.push(row)
    }
    return found
  }

  /** Declares when a row falls due (epoch ms), and returns the queue of those that do. */
  dueBy(name: string, dueOf: (row: T) => number | null): DueQueue {
    const queue = new DueQueue()
    this.#queues.set(name, { dueOf, queue })
    for (const [key, row] of this.entries()) queue.set(key, dueOf(row))
    return queue
  }

  /** Declares that all but some rows are packed, which takes a fifth of the memory. */
  packBeyond(most: number, by: Packing<T>): void {
    if (this.#packing?.by === by) return
    for (const key of this.#rows.keys()) {
      this.get(key)
      this.#unpacked.add(key)
    }
    this.#packing = { most, by }
    this.packOld()
  }

  /**
   * Packs the rows that were unpacked or set first. A change made afterwards to an object that was got
   * before is lost, so this is called between steps, when nobody holds a row.
   */
  packOld(): void {
    if (!this.#packing || this.#unpacked.size <= this.#packing.most) return
    const { most, by } = this.#packing
    for (const key of this.#unpacked) {
      if (this.#unpacked.size <= most) return
      const kept = this.#rows.get(key)
      if (typeof kept === 'object') this.#rows.set(key, by.toText(kept))
      this.#unpacked.delete(key)
    }
  }

  /** From now on calls back at every change, and remembers the keys that changed. */
  watch(onChange: () => void): void {
    this.#watch = { onChange, keys: new Map() }
  }

  unwatch(): void {
    this.#watch = null
  }

  /** What changed since the last time, rows as they are now and undefined for those that are gone. */
  *takeChanges(): Generator<readonly [key: string, row: T | undefined, isNew: boolean]> {
    const keys = this.#watch?.keys
    if (!keys) return
    for (const [key, isNew] of keys) {
      const kept = this.#rows.get(key)
      yield [key, kept === undefined ? undefined : this.#read(kept), isNew]
    }
    keys.clear()
  }

  dropChanges(): void {
    this.#watch?.keys.clear()
  }

  #noteUnpacked(key: string): void {
    if (!this.#packing) return
    this.#unpacked.add(key)
    if (this.#unpacked.size > this.#packing.most) this.#tellFull(this)
  }

  #keep(key: string, kept: T | string): void {
    const before = this.#rows.get(key)
    if (before === undefined) {
      this.#places?.set(key, this.#keys.length)
      this.#keys.push(key)
    }
    if (before !== kept) this.#rows.set(key, kept)
    this.#noteChange(key, before === undefined)
  }

  #noteChange(key: string, isNew: boolean): void {
    if (!this.#watch) return
    const { keys, onChange } = this.#watch
    // New rows are told of in the order they have in the table.
    if (isNew) keys.delete(key)
    if (isNew || !this.#rows.has(key) || !keys.has(key)) keys.set(key, isNew)
    onChange()
  }

  #findPlaces(): ReadonlyMap<string, number> {
    this.#places ??= new Map(this.#keys.map((key, place) => [key, place]))
    return this.#places
  }

  #read(kept: T | string): T {
    if (typeof kept !== 'string') return kept
    if (!this.#packing) throw new TypeError('A row is packed in a table that packs none')
    return this.#packing.by.fromText(kept)
  }
}

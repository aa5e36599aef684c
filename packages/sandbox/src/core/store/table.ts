import { StoreColumn } from './column.ts'
import { CombinedDueQueue, DueQueue } from './due-queue.ts'
import { NewestFirstRows } from './newest-first.ts'
import { RowPacker } from './packer.ts'
import { TableIndex } from './table-index.ts'
import { TextPages } from './text-pages.ts'

/**
 * A table of objects in insertion order. After changing an object, call `set` again to update the
 * indexes and due times. Rows that were not used for a while may be packed into texts.
 */
export class StoreTable<T extends object> {
  /**
   * Keys by place (position in the table), in insertion order. A deleted row leaves its place empty
   * until the gaps are closed.
   */
  #keys: string[] = []
  /**
   * The rows by place (position in the table). An element is the row itself, the address of its
   * text (a number) if it is packed, or `undefined` if the place is empty.
   */
  #rows: Array<T | number | undefined> = []
  #texts = new TextPages()
  /** First place (position in the table) that may hold a row. All places before it are empty. */
  #first = 0
  #size = 0
  /**
   * Places (positions in the table) by key. Created on the first lookup, because tens of thousands
   * of events are rarely looked up by key.
   */
  #places: Map<string, number> | null = null
  /**
   * The number of rows that stay unpacked, and the packer for all others. `null` if rows are never
   * packed.
   */
  #packing: { readonly most: number; readonly packer: RowPacker<T> } | null = null
  /**
   * Places (positions in the table) of the unpacked rows, least recently used first. Some of them
   * are empty.
   */
  #unpacked: number[] = []
  readonly #columns = new Map<string, StoreColumn<T>>()
  readonly #indexes = new Map<string, TableIndex<T>>()
  readonly #queues = new Map<
    string,
    { dueOf: (row: T) => number | null; queue: DueQueue | CombinedDueQueue<T> }
  >()
  readonly #onPacked: (table: { packOld(): void }) => void
  /** Callback that receives each key that is set or deleted. */
  #observer: ((key: string) => void) | null = null
  /** The callback for changes, and the keys that changed: `true` for new rows. */
  #watch: { readonly onChange: () => void; readonly keys: Map<string, boolean> } | null = null

  /** `onPacked` is called with this table once packing is switched on. */
  constructor(onPacked: (table: { packOld(): void }) => void = () => undefined) {
    this.#onPacked = onPacked
  }

  get size(): number {
    return this.#size
  }

  /** Number of places in the table, including empty ones. */
  get end(): number {
    return this.#keys.length
  }

  get(key: string): T | undefined {
    const place = this.placeOf(key)
    const row = place === undefined ? undefined : this.at(place)
    // Keep the unpacked object: every caller must get the same one while it may be changed.
    if (place !== undefined && row !== undefined) this.#storeRow(place, row)
    return row
  }

  has(key: string): boolean {
    return this.placeOf(key) !== undefined
  }

  placeOf(key: string): number | undefined {
    if (this.#places === null) {
      this.#places = new Map()
      for (let place = this.#first; place < this.end; place++) {
        if (this.#rows[place] !== undefined) this.#places.set(this.#keys[place] as string, place)
      }
    }
    return this.#places.get(key)
  }

  /**
   * Reads the row at a place (position in the table) without keeping it unpacked: changes to the
   * returned object may be lost. `undefined` for an empty place.
   */
  at(place: number): T | undefined {
    const kept = this.#rows[place]
    if (typeof kept !== 'number') return kept
    return this.#packing?.packer.fromText(this.#texts.read(kept))
  }

  set(key: string, row: T): void {
    const place = this.placeOf(key)
    if (place === undefined) this.add(key, row)
    else this.#put(place, key, row, false)
  }

  /** Adds a row under a key that must be new. Faster than `set`. */
  add(key: string, row: T): void {
    const place = this.#keys.push(key) - 1
    this.#places?.set(key, place)
    this.#rows.push(undefined)
    this.#size++
    this.#put(place, key, row, true)
  }

  delete(key: string): void {
    const place = this.placeOf(key)
    if (place !== undefined) this.#deleteAt(place)
  }

  /**
   * Deletes the oldest rows one after the other, until `isOld` returns `false` for the place of a
   * row.
   */
  deleteOldest(isOld: (place: number) => boolean): void {
    while (this.#size > 0 && isOld(this.#first)) this.#deleteAt(this.#first)
  }

  clear(): void {
    const keys = this.#keys.filter((_, place) => this.#rows[place] !== undefined)
    this.#keys = []
    this.#rows = []
    this.#texts = new TextPages()
    this.#size = 0
    this.#resetPlaces(() => false)
    for (const index of this.#indexes.values()) index.clear()
    for (const { queue } of this.#queues.values()) queue.clear()
    for (const key of keys) this.#recordChange(key, false)
  }

  /** Iterates over the rows, oldest first. Do not change the rows: changes may be lost. */
  *values(): IterableIterator<T> {
    for (const [, row] of this.entries()) yield row
  }

  /**
   * Iterates over keys and rows, oldest first. Do not change the rows: changes may be lost. Rows
   * may be set and deleted during the iteration.
   */
  *entries(): IterableIterator<[key: string, row: T]> {
    const keys = this.#keys
    for (let place = this.#first; place < keys.length; place++) {
      const key = keys[place] as string
      // Closing gaps replaces the list of keys, and then places have changed.
      const row = this.at(keys === this.#keys ? place : (this.placeOf(key) ?? -1))
      if (row !== undefined) yield [key, row]
    }
  }

  /** Lists the rows, newest first. Do not change the rows: changes may be lost. */
  newestFirst(): NewestFirstRows<T> {
    return new NewestFirstRows(this)
  }

  /**
   * Lists the rows at the places that `isAt` accepts, newest first, without unpacking any other
   * row. Do not change the rows: changes may be lost.
   */
  newestAt(isAt: (place: number) => boolean): NewestFirstRows<T> {
    return new NewestFirstRows(this, { isAt })
  }

  /**
   * Lists the rows with a value in an index or a column, newest first, without unpacking any other
   * row. Do not change the rows: changes may be lost.
   */
  newestBy(name: string, value: string): NewestFirstRows<T> {
    const column = this.#indexes.has(name) ? undefined : this.#columns.get(name)
    if (column) return this.newestAt(column.where((each) => each === value))
    const placeOf = (key: string) => this.placeOf(key) ?? -1
    return new NewestFirstRows(this, {
      places: Int32Array.from(this.#index(name).keys(value), placeOf).sort(),
    })
  }

  /**
   * Declares an index of the table. Rows for which `keyOf` returns `null` are not indexed. With
   * `fixed`, the value of a row never changes, and the index takes half the memory. Call it once
   * per index.
   */
  indexBy(name: string, keyOf: (row: T) => string | null, { fixed = false } = {}): void {
    const index = new TableIndex(keyOf, fixed)
    this.#indexes.set(name, index)
    for (const [key, row] of this.entries()) index.put(key, row, true)
  }

  /**
   * Returns the column of a field, by which rows can be filtered without unpacking them. The first
   * call reads every existing row.
   */
  columnBy(name: string, read: (row: T) => unknown): StoreColumn<T> {
    let column = this.#columns.get(name)
    if (!column) {
      column = new StoreColumn(read)
      this.#columns.set(name, column)
      for (let place = 0; place < this.end; place++) {
        const row = this.at(place)
        if (row === undefined) column.empty(place)
        else column.put(place, row)
      }
    }
    return column
  }

  column(name: string): StoreColumn<T> | undefined {
    return this.#columns.get(name)
  }

  /** Returns the rows with this value in the index `name`, oldest first. */
  findBy(name: string, value: string): T[] {
    const keys = this.#index(name).keys(value)
    return keys.flatMap((key) => this.get(key) ?? [])
  }

  /**
   * Returns the rows with this value in the index `name`, oldest first. Packed rows stay packed, so
   * changes to the returned objects may be lost.
   */
  readBy(name: string, value: string): T[] {
    const keys = this.#index(name).keys(value)
    return keys.flatMap((key) => this.at(this.placeOf(key) ?? -1) ?? [])
  }

  /**
   * Declares when a row is due (in epoch milliseconds, `null` for never), and returns the queue of
   * due rows.
   */
  dueBy(name: string, dueOf: (row: T) => number | null): DueQueue {
    return this.#addQueue(name, dueOf, new DueQueue())
  }

  /**
   * Declares when a row is due (in epoch milliseconds, `null` for never), with a separate queue for
   * each clock.
   */
  dueByClock(
    name: string,
    dueOf: (row: T) => number | null,
    clockOf: (row: T) => string | null,
  ): CombinedDueQueue<T> {
    return this.#addQueue(name, dueOf, new CombinedDueQueue(clockOf))
  }

  /**
   * Packs all rows except the `most` recently used ones. A packed row takes a fifth of the memory.
   * Rows of different kinds share no samples. Only the first call for a table has an effect.
   */
  packBeyond(most: number, kindOf?: (row: T) => string): void {
    if (this.#packing) return
    this.#packing = { most, packer: new RowPacker(kindOf) }
    this.#onPacked(this)
    this.#findUnpacked()
    this.packOld()
  }

  /**
   * Packs the least recently used rows. Later changes to objects that the table returned before are
   * lost, so call it only between steps, when no caller holds a row.
   */
  packOld(): void {
    // A quarter more may accumulate, because shortening the list takes time.
    if (!this.#packing || this.#unpacked.length <= 1.25 * this.#packing.most) return
    const { most, packer } = this.#packing
    const places = this.#unpacked
      .splice(0, this.#unpacked.length - most)
      .filter((place) => typeof this.#rows[place] === 'object')
    const texts = places.map((place) => packer.toText(this.#rows[place] as T))
    const addresses = this.#texts.add(texts)
    for (const [at, place] of places.entries()) this.#rows[place] = addresses[at]
    if (this.#texts.isMostlyUnused) this.#moveTexts()
  }

  /**
   * Registers the one observer of the table. It is called with each key that is set or deleted,
   * while the change is in progress, so it must read the row later.
   */
  observe(observer: (key: string) => void): void {
    this.#observer = observer
  }

  /** Calls `onChange` at every change from now on, and remembers the changed keys. */
  watch(onChange: () => void): void {
    this.#watch = { onChange, keys: new Map() }
  }

  unwatch(): void {
    this.#watch = null
  }

  /**
   * Returns the rows that changed since the last call, in their present state. A deleted row is
   * `undefined`.
   */
  *takeChanges(): Generator<readonly [key: string, row: T | undefined, isNew: boolean]> {
    const keys = this.#watch?.keys
    if (!keys) return
    for (const [key, isNew] of keys) yield [key, this.at(this.placeOf(key) ?? -1), isNew]
    keys.clear()
  }

  dropChanges(): void {
    this.#watch?.keys.clear()
  }

  #put(place: number, key: string, row: T, isNew: boolean): void {
    this.#storeRow(place, row)
    for (const column of this.#columns.values()) column.put(place, row)
    this.#recordChange(key, isNew)
    for (const index of this.#indexes.values()) index.put(key, row, isNew)
    for (const { dueOf, queue } of this.#queues.values()) queue.set(key, dueOf(row), row)
  }

  #storeRow(place: number, row: T): void {
    if (this.#packing && typeof this.#rows[place] !== 'object') {
      this.#dropText(place)
      this.#unpacked.push(place)
    }
    this.#rows[place] = row
  }

  #dropText(place: number): void {
    const kept = this.#rows[place]
    if (typeof kept === 'number') this.#texts.remove(kept)
  }

  /** Moves the texts of packed rows to new memory pages, to close the gaps of removed texts. */
  #moveTexts(): void {
    const texts = new TextPages()
    this.#rows = this.#rows.map((kept) =>
      typeof kept === 'number' ? texts.add([this.#texts.read(kept)])[0] : kept,
    )
    this.#texts = texts
  }

  #deleteAt(place: number): void {
    const key = this.#keys[place] as string
    for (const index of this.#indexes.values()) index.remove(key, () => this.at(place))
    for (const { queue } of this.#queues.values()) queue.set(key, null)
    for (const column of this.#columns.values()) column.empty(place)
    this.#places?.delete(key)
    this.#dropText(place)
    this.#rows[place] = undefined
    this.#size--
    while (this.#first < this.end && this.#rows[this.#first] === undefined) this.#first++
    if (this.end > 2 * this.#size + 64) this.#closeGaps()
    this.#recordChange(key, false)
  }

  #closeGaps(): void {
    const rows = this.#rows
    const isThere = (_: unknown, place: number) => rows[place] !== undefined
    this.#keys = this.#keys.filter(isThere)
    this.#rows = rows.filter(isThere)
    this.#resetPlaces(isThere)
  }

  /**
   * Updates everything that refers to rows by place (position in the table), after the places have
   * changed.
   */
  #resetPlaces(isKept: (value: unknown, place: number) => boolean): void {
    this.#first = 0
    this.#places = null
    for (const column of this.#columns.values()) column.keep(isKept)
    this.#findUnpacked()
  }

  #findUnpacked(): void {
    this.#unpacked = []
    if (!this.#packing) return
    for (const [place, row] of this.#rows.entries()) {
      if (typeof row === 'object') this.#unpacked.push(place)
    }
  }

  #addQueue<Q extends DueQueue | CombinedDueQueue<T>>(
    name: string,
    dueOf: (row: T) => number | null,
    queue: Q,
  ): Q {
    this.#queues.set(name, { dueOf, queue })
    for (const [key, row] of this.entries()) queue.set(key, dueOf(row), row)
    return queue
  }

  #recordChange(key: string, isNew: boolean): void {
    this.#observer?.(key)
    if (!this.#watch) return
    const { keys, onChange } = this.#watch
    // New rows are reported in the order of the table.
    if (isNew) keys.delete(key)
    if (isNew || !keys.has(key) || !this.has(key)) keys.set(key, isNew)
    onChange()
  }

  #index(name: string): TableIndex<T> {
    const index = this.#indexes.get(name)
    if (!index) throw new TypeError(`There is no index ${name}`)
    return index
  }
}

import type { Column } from './column.ts'
import { DueQueue, DueQueues } from './due-queue.ts'
import { KeptRows } from './kept-rows.ts'
import { NewestFirst, TimeOrder } from './newest-first.ts'
import type { Packing } from './packer.ts'
import { TableIndex } from './table-index.ts'

/**
 * Objects in the order they were first set. After changing an object call `set` again:
 * indexes and due times follow only then.
 */
export class Table<T extends object> {
  readonly #rows: KeptRows<T>
  readonly #indexes = new Map<string, TableIndex<T>>()
  readonly #queues = new Map<
    string,
    { dueOf: (row: T) => number | null; queue: DueQueue | DueQueues<T> }
  >()
  #times: TimeOrder<T> | null = null
  /** Is told of each key that is set or deleted. */
  #observer: ((key: string) => void) | null = null
  /** Whom changes are told to, and the keys that changed, those of new rows with true. */
  #watch: { readonly onChange: () => void; readonly keys: Map<string, boolean> } | null = null

  /** `tellFull` is called when there is something for `packOld` to do. */
  constructor(tellFull: (table: { packOld(): void }) => void = () => undefined) {
    this.#rows = new KeptRows(() => tellFull(this))
  }

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
    const isNew = this.#rows.set(key, row)
    if (isNew) this.#times?.add(this.#times.of(row))
    this.#noteChange(key, isNew)
    for (const index of this.#indexes.values()) if (isNew || !index.isFixed) index.put(key, row)
    for (const { dueOf, queue } of this.#queues.values()) queue.set(key, dueOf(row), row)
  }

  /** For new rows that were packed together, each with its id as key, in a table without indexes and queues. */
  addTogether<R extends T & { readonly id: string }>(rows: readonly R[], text: string): void {
    this.#rows.addTogether(rows, text)
    for (const row of rows) {
      this.#times?.add(this.#times.of(row))
      this.#noteChange(row.id, true)
    }
  }

  delete(key: string): void {
    if (!this.#rows.has(key)) return
    this.#forget(key)
    this.#rows.delete(key)
    this.#noteChange(key, false)
  }

  /** Deletes rows from the oldest on, until one is to stay. Of a packed row the start of its text is shown. */
  deleteOldest(isOld: (kept: T | string) => boolean): void {
    for (let oldest = this.#rows.oldest(); oldest; oldest = this.#rows.oldest()) {
      const [key, kept] = oldest
      if (!isOld(kept)) return
      this.#forget(key)
      this.#rows.deleteOldest()
      this.#noteChange(key, false)
    }
  }

  clear(): void {
    const keys = this.#watch ? [...this.#rows.entries()].map(([key]) => key) : []
    this.#rows.clear()
    this.#times?.clear()
    for (const index of this.#indexes.values()) index.clear()
    for (const { queue } of this.#queues.values()) queue.clear()
    for (const key of keys) this.#noteChange(key, false)
  }

  /** Oldest first. To read only: a packed row stays packed, so a change to it would be lost. */
  *values(): IterableIterator<T> {
    for (const [, row] of this.#rows.entries()) yield row
  }

  /** To read only, as `values`. */
  entries(): IterableIterator<[string, T]> {
    return this.#rows.entries()
  }

  /** To read only, as `values`. */
  newestFirst(): NewestFirst<T> {
    return this.newestAt(() => true)
  }

  /** As `newestFirst`, of the rows at these places alone. Others are not unpacked. */
  newestAt(isWanted: (place: number) => boolean): NewestFirst<T> {
    const rows = this.#rows
    return new NewestFirst<T>({
      count: () => rows.end,
      placeOf: (key) => {
        const place = rows.placeOf(key)
        return place !== undefined && isWanted(place) ? place : null
      },
      rowAt: (place) => (isWanted(place) ? rows.at(place) : undefined),
      timeOf: this.#timeOf(),
    })
  }

  /** As `newestFirst`, of the rows with this index key alone. Others are not unpacked. */
  newestBy(name: string, value: string): NewestFirst<T> {
    const index = this.#index(name)
    // To put many in order for each page takes longer than to pass by the others.
    if (index.count(value) * 8 > this.size) {
      return this.newestAt((place) => index.isUnder(value, this.#rows.keyAt(place)))
    }
    const placeOf = (key: string) => this.#rows.placeOf(key) ?? -1
    const places = Int32Array.from(index.keys(value), placeOf).sort()
    return new NewestFirst<T>({
      count: () => places.length,
      placeOf: (key) => {
        const found = places.indexOf(placeOf(key))
        return found < 0 ? null : found
      },
      rowAt: (at) => this.#rows.at(places[at] ?? -1),
      timeOf: this.#timeOf(),
    })
  }

  /**
   * Declares an index, once; rows whose key is null are left out of it. `fixed` says that a row's key never
   * changes: then the index need not remember it, which saves half of its memory.
   */
  indexBy(name: string, keyOf: (row: T) => string | null, { fixed = false } = {}): void {
    const index = new TableIndex(keyOf, fixed)
    this.#indexes.set(name, index)
    for (const [key, row] of this.entries()) index.put(key, row)
  }

  /**
   * Keeps a field of all rows apart, to ask for the places where it has some value. A field that was not declared by then
   * is read from every row once.
   */
  columnBy(name: string, read: (row: T) => unknown): Column<T> {
    return this.#rows.column(name, read)
  }

  /** The rows with this index key, oldest first. */
  findBy(name: string, value: string): T[] {
    const found: T[] = []
    for (const key of this.#index(name).keys(value)) {
      const row = this.#rows.get(key)
      if (row) found.push(row)
    }
    return found
  }

  /** As `findBy`, to read only: a packed row stays packed. */
  readBy(name: string, value: string): T[] {
    const found: T[] = []
    for (const key of this.#index(name).keys(value)) {
      const row = this.#rows.read(key)
      if (row) found.push(row)
    }
    return found
  }

  /** Declares when a row was made, which never changes, so that lists of a span of time look at no others. */
  timeBy(timeOf: (row: T) => number): void {
    this.#times = new TimeOrder(timeOf)
    for (const row of this.values()) this.#times.add(timeOf(row))
  }

  /** Declares when a row falls due (epoch ms), and returns the queue of those that do. */
  dueBy(name: string, dueOf: (row: T) => number | null): DueQueue {
    return this.#addQueue(name, dueOf, new DueQueue())
  }

  /** As `dueBy`, where rows live by several clocks: each has a queue of its own. */
  dueByClock(
    name: string,
    dueOf: (row: T) => number | null,
    clockOf: (row: T) => string | null,
  ): DueQueues<T> {
    return this.#addQueue(name, dueOf, new DueQueues(clockOf))
  }

  /** Declares that all but some rows are packed, which takes a fifth of the memory. */
  packBeyond(most: number, by: Packing<T>): void {
    this.#rows.packBeyond(most, by)
  }

  /**
   * Packs the rows that were unpacked or set first. A change made afterwards to an object that was got
   * before is lost, so this is called between steps, when nobody holds a row.
   */
  packOld(): void {
    this.#rows.packOld()
  }

  /** Tells of each key as it is set or deleted. There is one observer, who looks at the row later. */
  observe(observer: (key: string) => void): void {
    this.#observer = observer
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
    for (const [key, isNew] of keys) yield [key, this.#rows.read(key), isNew]
    keys.clear()
  }

  dropChanges(): void {
    this.#watch?.keys.clear()
  }

  #addQueue<Q extends DueQueue | DueQueues<T>>(
    name: string,
    dueOf: (row: T) => number | null,
    queue: Q,
  ): Q {
    this.#queues.set(name, { dueOf, queue })
    for (const [key, row] of this.entries()) queue.set(key, dueOf(row), row)
    return queue
  }

  /** Takes a row out of indexes and queues. */
  #forget(key: string): void {
    for (const index of this.#indexes.values()) index.remove(key, () => this.#rows.read(key))
    for (const { queue } of this.#queues.values()) queue.set(key, null)
  }

  #noteChange(key: string, isNew: boolean): void {
    this.#observer?.(key)
    if (!this.#watch) return
    const { keys, onChange } = this.#watch
    // New rows are told of in the order they have in the table.
    if (isNew) keys.delete(key)
    if (isNew || !this.#rows.has(key) || !keys.has(key)) keys.set(key, isNew)
    onChange()
  }

  /** Null when the rows have not come in the order of their times. */
  #timeOf(): ((row: T) => number) | null {
    return this.#times?.inOrder ? this.#times.of : null
  }

  #index(name: string): TableIndex<T> {
    const index = this.#indexes.get(name)
    if (!index) throw new TypeError(`There is no index ${name}`)
    return index
  }
}

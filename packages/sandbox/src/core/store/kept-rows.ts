import { Column } from './column.ts'
import { OrderedRows } from './ordered-rows.ts'
import type { Packing } from './packer.ts'
import { TextPages } from './text-pages.ts'

/** Enough to see how old a packed row is. */
const START = 24

/** Rows in the order they came, of which all but some may be packed. */
export class KeptRows<T extends object> {
  /** A number is where a packed row is among the texts. */
  readonly #rows = new OrderedRows<T | number>()
  #texts = new TextPages()
  /** How many rows stay unpacked, and what packs the others; null when none is ever packed. */
  #packing: { readonly most: number; readonly by: Packing<T> } | null = null
  /** Places of the rows that are not packed, in the order they came. Empty when none is ever packed. */
  readonly #unpacked = new Set<number>()
  /** Is kept, because a new one would pass by all that was deleted since the set last grew: half of it, for each row. */
  #firstUnpacked = this.#unpacked.values()
  readonly #columns = new Map<string, Column<T>>()
  readonly #tellFull: () => void

  /** `tellFull` is called when there is something for `packOld` to do. */
  constructor(tellFull: () => void) {
    this.#tellFull = tellFull
  }

  get size(): number {
    return this.#rows.size
  }

  /** How many places there are, empty ones included. */
  get end(): number {
    return this.#rows.end
  }

  get(key: string): T | undefined {
    const place = this.#rows.placeOf(key)
    if (place === undefined) return undefined
    const kept = this.#rows.at(place)
    if (typeof kept !== 'number') return kept
    // Whoever changes the row and whoever asks for it next must have the same object.
    const row = this.#read(key, kept)
    this.#texts.remove(kept)
    this.#rows.setAt(place, row)
    this.#noteUnpacked(place)
    return row
  }

  /** As `get`, to read only: a packed row stays packed, so a change to it would be lost. */
  read(key: string): T | undefined {
    const kept = this.#rows.get(key)
    return kept === undefined ? undefined : this.#read(key, kept)
  }

  has(key: string): boolean {
    return this.#rows.has(key)
  }

  /** True for a new row. */
  set(key: string, row: T): boolean {
    const place = this.#rows.placeOf(key)
    for (const column of this.#columns.values()) column.put(place ?? this.end, row)
    if (place === undefined) {
      this.#noteUnpacked(this.#rows.end)
      this.#rows.add(key, row)
      return true
    }
    const before = this.#rows.at(place)
    if (typeof before === 'number') this.#texts.remove(before)
    this.#rows.setAt(place, row)
    this.#noteUnpacked(place)
    return false
  }

  /** For new rows that are packed already, in one text. */
  addTogether<R extends T & { readonly id: string }>(rows: readonly R[], text: string): void {
    const address = this.#texts.add(text, rows.length)
    for (const row of rows) {
      for (const column of this.#columns.values()) column.put(this.end, row)
      this.#rows.add(row.id, address)
    }
  }

  /** See `Table.columnBy`. */
  column(name: string, read: (row: T) => unknown): Column<T> {
    const known = this.#columns.get(name)
    if (known) return known
    const column = new Column(read)
    for (let place = 0; place < this.end; place++) {
      const row = this.at(place)
      if (row !== undefined) column.put(place, row)
    }
    this.#columns.set(name, column)
    this.#rows.watchPlaces(column)
    return column
  }

  delete(key: string): void {
    const place = this.#rows.placeOf(key)
    if (place === undefined) return
    const kept = this.#rows.at(place)
    if (typeof kept === 'number') this.#texts.remove(kept)
    else this.#unpacked.delete(place)
    this.#withoutGaps(() => this.#rows.delete(key))
  }

  clear(): void {
    this.#rows.clear()
    this.#unpacked.clear()
    this.#texts = new TextPages()
  }

  placeOf(key: string): number | undefined {
    return this.#rows.placeOf(key)
  }

  keyAt(place: number): string {
    return this.#rows.keyAt(place)
  }

  /** To read only. Undefined for an empty place. */
  at(place: number): T | undefined {
    const kept = this.#rows.at(place)
    return kept === undefined ? undefined : this.#read(this.keyAt(place), kept)
  }

  /** A packed one as the first characters of its text. */
  oldest(): readonly [key: string, kept: T | string] | undefined {
    const found = this.#rows.oldest()
    if (!found) return undefined
    const [key, kept] = found
    return [key, typeof kept === 'number' ? this.#texts.read(kept, START) : kept]
  }

  deleteOldest(): void {
    const [key, kept] = this.#rows.oldest() ?? []
    if (typeof kept === 'number') this.#texts.remove(kept)
    else if (key !== undefined) this.#unpacked.delete(this.placeOf(key) ?? -1)
    this.#withoutGaps(() => this.#rows.deleteOldest())
  }

  /** Oldest first, to read only. Rows may be set and deleted meanwhile. */
  *entries(): Generator<[key: string, row: T]> {
    for (const [key, kept] of this.#rows.entries()) yield [key, this.#read(key, kept)]
  }

  /** See `Table.packBeyond`. */
  packBeyond(most: number, by: Packing<T>): void {
    if (this.#packing?.by === by) return
    for (const [key] of this.#rows.entries()) this.get(key)
    this.#packing = { most, by }
    this.#findUnpacked()
    this.packOld()
  }

  /** See `Table.packOld`. */
  packOld(): void {
    if (!this.#packing || this.#unpacked.size <= this.#packing.most) return
    const { most, by } = this.#packing
    while (this.#unpacked.size > most) {
      const { done, value: place } = this.#firstUnpacked.next()
      if (done) {
        this.#firstUnpacked = this.#unpacked.values()
        continue
      }
      const kept = this.#rows.at(place)
      if (typeof kept === 'object') this.#rows.setAt(place, this.#texts.add(by.toText(kept)))
      this.#unpacked.delete(place)
    }
    if (this.#texts.isMostlyWaste) this.#moveTexts()
  }

  /** To new pages, which hold nothing else. */
  #moveTexts(): void {
    const texts = new TextPages()
    let [from, to] = [-1, -1]
    for (let place = 0; place < this.end; place++) {
      const kept = this.#rows.at(place)
      if (typeof kept !== 'number') continue
      // Rows that share a text are neighbours.
      if (kept !== from) to = texts.add(this.#texts.read(kept), this.#texts.holdersOf(kept))
      from = kept
      this.#rows.setAt(place, to)
    }
    this.#texts = texts
  }

  /** When a deletion closes the gaps, rows have other places. */
  #withoutGaps(remove: () => void): void {
    const { end } = this
    remove()
    if (this.end < end) this.#findUnpacked()
  }

  #findUnpacked(): void {
    this.#unpacked.clear()
    if (!this.#packing) return
    for (let place = 0; place < this.end; place++) {
      if (typeof this.#rows.at(place) === 'object') this.#unpacked.add(place)
    }
  }

  #noteUnpacked(place: number): void {
    if (!this.#packing) return
    this.#unpacked.add(place)
    if (this.#unpacked.size > this.#packing.most) this.#tellFull()
  }

  #read(key: string, kept: T | number): T {
    if (typeof kept !== 'number') return kept
    if (!this.#packing) throw new TypeError('A row is packed in a table that packs none')
    return this.#packing.by.fromText(this.#texts.read(kept), key)
  }
}

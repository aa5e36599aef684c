import type { StoreColumn } from './column.ts'

/** Rows by insertion order. Some places are empty. */
interface Rows<T> {
  /** Number of places, including empty ones. */
  readonly end: number
  placeOf(key: string): number | undefined
  at(place: number): T | undefined
  column(name: string): StoreColumn<T> | undefined
}

interface RowFilter<T> {
  /** Places to consider, in ascending order. All places if absent. */
  readonly places?: Int32Array
  readonly isAt: (place: number) => boolean
  readonly keep: (row: T) => boolean
}

/**
 * A list of a table's rows from newest to oldest. Reading starts directly at a cursor, without
 * walking through the rows before it.
 */
export class NewestFirstRows<T> implements Iterable<T> {
  readonly #rows: Rows<T>
  readonly #wanted: RowFilter<T>

  constructor(rows: Rows<T>, wanted: Partial<RowFilter<T>> = {}) {
    this.#rows = rows
    this.#wanted = { isAt: () => true, keep: () => true, ...wanted }
  }

  filter(keep: (row: T) => boolean): NewestFirstRows<T> {
    const { keep: before } = this.#wanted
    const both = (row: T) => before(row) && keep(row)
    return new NewestFirstRows(this.#rows, { ...this.#wanted, keep: both })
  }

  /**
   * Returns the list of only those rows whose field has a wanted value. Rows are not unpacked if
   * the field has a column.
   */
  where(name: string & keyof T, isWanted: (value: unknown) => boolean): NewestFirstRows<T> {
    const isThis = this.#rows.column(name)?.where(isWanted)
    if (!isThis) return this.filter((row) => isWanted(row[name]))
    const { isAt } = this.#wanted
    const both = (place: number) => isAt(place) && isThis(place)
    return new NewestFirstRows(this.#rows, { ...this.#wanted, isAt: both })
  }

  [Symbol.iterator](): Iterator<T> {
    return this.#walk((this.#wanted.places?.length ?? this.#rows.end) - 1, -1)
  }

  /**
   * Returns the rows that are older than the row with this key. `null` if that row is not in the
   * list.
   */
  after(key: string): Iterable<T> | null {
    return this.#from(key, -1)
  }

  /**
   * Returns the rows that are newer than the row with this key, nearest first. `null` if that row
   * is not in the list.
   */
  before(key: string): Iterable<T> | null {
    return this.#from(key, 1)
  }

  #from(key: string, step: 1 | -1): Iterable<T> | null {
    const place = this.#rows.placeOf(key) ?? -1
    const at = this.#wanted.places?.indexOf(place) ?? place
    return this.#at(at) === undefined ? null : this.#walk(at + step, step)
  }

  #at(at: number): T | undefined {
    const { places, isAt, keep } = this.#wanted
    const place = places ? places[at] : at
    const row = place !== undefined && isAt(place) ? this.#rows.at(place) : undefined
    return row !== undefined && keep(row) ? row : undefined
  }

  *#walk(from: number, step: 1 | -1): Generator<T> {
    const end = this.#wanted.places?.length ?? this.#rows.end
    for (let at = from; at >= 0 && at < end; at += step) {
      const row = this.#at(at)
      if (row !== undefined) yield row
    }
  }
}

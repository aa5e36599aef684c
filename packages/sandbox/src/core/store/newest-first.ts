/** Rows by the order they came in. Some places are empty. */
export interface Places<T> {
  count(): number
  /** Null when no row has this key. */
  placeOf(key: string): number | null
  rowAt(place: number): T | undefined
}

/** Rows, the newest first. A page of them starts at its cursor, without a walk through those before. */
export class NewestFirst<T> implements Iterable<T> {
  readonly #places: Places<T>
  readonly #keep: (row: T) => boolean

  constructor(places: Places<T>, keep: (row: T) => boolean = () => true) {
    this.#places = places
    this.#keep = keep
  }

  filter(keep: (row: T) => boolean): NewestFirst<T> {
    return new NewestFirst(this.#places, (row) => this.#keep(row) && keep(row))
  }

  [Symbol.iterator](): Iterator<T> {
    return this.#walk(this.#places.count() - 1, -1)
  }

  /** What is older than this row; null when it is not among these rows. */
  after(key: string): Iterable<T> | null {
    const place = this.#find(key)
    return place === null ? null : this.#walk(place - 1, -1)
  }

  /** What is newer than this row, the nearest first; null when it is not among these rows. */
  before(key: string): Iterable<T> | null {
    const place = this.#find(key)
    return place === null ? null : this.#walk(place + 1, 1)
  }

  #find(key: string): number | null {
    const place = this.#places.placeOf(key)
    const row = place === null ? undefined : this.#places.rowAt(place)
    return row !== undefined && this.#keep(row) ? place : null
  }

  *#walk(from: number, step: 1 | -1): Generator<T> {
    for (let place = from; place >= 0 && place < this.#places.count(); place += step) {
      const row = this.#places.rowAt(place)
      if (row !== undefined && this.#keep(row)) yield row
    }
  }
}

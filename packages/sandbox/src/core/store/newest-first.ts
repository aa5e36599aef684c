/** Rows by the order they came in. Some places are empty. */
export interface Places<T> {
  count(): number
  /** Null when no row has this key. */
  placeOf(key: string): number | null
  rowAt(place: number): T | undefined
  /** When a row was made, if the rows have come in the order of these times; otherwise null. */
  readonly timeOf: ((row: T) => number) | null
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

  /** Leaves out rows of other times where it can do so without looking at them; the rest is for a filter. */
  between(from: number, to: number): NewestFirst<T> {
    const { timeOf } = this.#places
    if (!timeOf) return this
    const first = this.#firstPlace((row) => timeOf(row) >= from)
    const end = Math.max(
      first,
      this.#firstPlace((row) => timeOf(row) > to),
    )
    const places: Places<T> = {
      count: () => end - first,
      placeOf: (key) => {
        const place = this.#places.placeOf(key)
        return place === null || place < first || place >= end ? null : place - first
      },
      rowAt: (place) => this.#places.rowAt(first + place),
      timeOf,
    }
    return new NewestFirst(places, this.#keep)
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

  /** Where the rows begin that are so, when all those after one that is so are so, too. */
  #firstPlace(isSo: (row: T) => boolean): number {
    let [low, high] = [0, this.#places.count()]
    while (low < high) {
      const middle = (low + high) >> 1
      let at = middle
      while (at < high && this.#places.rowAt(at) === undefined) at++
      const row = at < high ? this.#places.rowAt(at) : undefined
      if (row !== undefined && !isSo(row)) low = at + 1
      else high = middle
    }
    return low
  }

  *#walk(from: number, step: 1 | -1): Generator<T> {
    for (let place = from; place >= 0 && place < this.#places.count(); place += step) {
      const row = this.#places.rowAt(place)
      if (row !== undefined && this.#keep(row)) yield row
    }
  }
}
/** Knows whether rows have come in the order of their times. With several clocks they need not. */
export class TimeOrder<T> {
  readonly of: (row: T) => number
  #last = Number.NEGATIVE_INFINITY
  #inOrder = true

  constructor(timeOf: (row: T) => number) {
    this.of = timeOf
  }

  get inOrder(): boolean {
    return this.#inOrder
  }

  /** Called for every row, as they come. */
  add(time: number): void {
    if (time < this.#last) this.#inOrder = false
    this.#last = time
  }

  clear(): void {
    this.#last = Number.NEGATIVE_INFINITY
    this.#inOrder = true
  }
}

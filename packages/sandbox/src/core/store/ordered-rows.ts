/** Keeps something of each place beside its value. */
interface PlaceWatcher {
  empty(place: number): void
  tidy(end: number, isThere: (place: number) => boolean): void
  clear(): void
}

/**
 * Values by key, and by place: the order in which their keys came. A place is empty once its value was deleted, until
 * tidying closes the gaps.
 */
export class OrderedRows<V extends object | number> {
  /**
   * Made for the first who asks for a key. Events come and go by the ten thousand, and mostly nobody ever asks for one
   * of them.
   */
  #places: Map<string, number> | null = null
  #keys: string[] = []
  #values: Array<V | undefined> = []
  /** Before this place all are empty. */
  #first = 0
  #size = 0
  readonly #watchers: PlaceWatcher[] = []

  get size(): number {
    return this.#size
  }

  /** How many places there are, empty ones included. */
  get end(): number {
    return this.#keys.length
  }

  /** Tells of places that become empty or move. */
  watchPlaces(watcher: PlaceWatcher): void {
    this.#watchers.push(watcher)
  }

  get(key: string): V | undefined {
    const place = this.placeOf(key)
    return place === undefined ? undefined : this.#values[place]
  }

  has(key: string): boolean {
    return this.placeOf(key) !== undefined
  }

  /** For a place that is not empty. */
  setAt(place: number, value: V): void {
    this.#values[place] = value
  }

  /** For a key that is not there yet: it gets the last place. */
  add(key: string, value: V): void {
    this.#places?.set(key, this.end)
    this.#keys.push(key)
    this.#values.push(value)
    this.#size++
  }

  delete(key: string): void {
    const place = this.placeOf(key)
    if (place !== undefined) this.#deleteAt(place)
  }

  deleteOldest(): void {
    if (this.#size > 0) this.#deleteAt(this.#first)
  }

  clear(): void {
    this.#places = null
    this.#keys = []
    this.#values = []
    this.#first = 0
    this.#size = 0
    for (const watcher of this.#watchers) watcher.clear()
  }

  oldest(): readonly [key: string, value: V] | undefined {
    const value = this.#values[this.#first]
    return value === undefined ? undefined : [this.keyAt(this.#first), value]
  }

  placeOf(key: string): number | undefined {
    this.#places ??= this.#findPlaces()
    return this.#places.get(key)
  }

  keyAt(place: number): string {
    return this.#keys[place] as string
  }

  /** Undefined for an empty place. */
  at(place: number): V | undefined {
    return this.#values[place]
  }

  /** Oldest first. Values may be set and deleted meanwhile. */
  *entries(): Generator<[key: string, value: V]> {
    const keys = this.#keys
    for (let place = this.#first; place < keys.length; place++) {
      const key = keys[place] as string
      // Tidying makes new lists.
      const value = keys === this.#keys ? this.#values[place] : this.get(key)
      if (value !== undefined) yield [key, value]
    }
  }

  #deleteAt(place: number): void {
    this.#places?.delete(this.keyAt(place))
    this.#values[place] = undefined
    this.#size--
    for (const watcher of this.#watchers) watcher.empty(place)
    while (this.#first < this.end && this.#values[this.#first] === undefined) this.#first++
    if (this.end > 2 * this.#size + 64) this.#tidy()
  }

  #findPlaces(): Map<string, number> {
    const places = new Map<string, number>()
    for (let place = this.#first; place < this.end; place++) {
      if (this.#values[place] !== undefined) places.set(this.keyAt(place), place)
    }
    return places
  }

  #tidy(): void {
    const isThere = (place: number) => this.#values[place] !== undefined
    for (const watcher of this.#watchers) watcher.tidy(this.end, isThere)
    this.#keys = this.#keys.filter((_, place) => isThere(place))
    this.#values = this.#values.filter((value) => value !== undefined)
    this.#first = 0
    if (this.#places) this.#places = this.#findPlaces()
  }
}

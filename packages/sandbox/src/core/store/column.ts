/** Code of an empty place. */
const NONE = 0

/**
 * One field of all rows, by place: a number of four bytes that stands for the value. Rows of one kind share a few
 * values (types, states, currencies), so a question is answered once for each value, and packed rows stay packed.
 */
export class Column<T> {
  readonly #read: (row: T) => unknown
  #codes = new Uint32Array(64)
  /** By code. The first stands for an empty place. */
  #values: unknown[] = [undefined]
  /** How many rows have the value of each code. */
  #counts: number[] = [0]
  readonly #known = new Map<unknown, number>()
  /** Codes whose value no row has any more. */
  #free: number[] = []

  /** Values are JSON: plain ones, or objects that nobody changes in place. */
  constructor(read: (row: T) => unknown) {
    this.#read = read
  }

  put(place: number, row: T): void {
    const value = this.#read(row) ?? null
    const before = this.#codes[place] ?? NONE
    // Most changes of a row are of other fields.
    if (before !== NONE && this.#values[before] === value) return
    const code = this.#codeOf(value)
    if (before === code) return
    this.#counts[code] = (this.#counts[code] ?? 0) + 1
    this.empty(place)
    if (place >= this.#codes.length) this.#grow(place)
    this.#codes[place] = code
  }

  empty(place: number): void {
    const code = this.#codes[place] ?? NONE
    if (code === NONE) return
    this.#codes[place] = NONE
    const left = (this.#counts[code] ?? 0) - 1
    this.#counts[code] = left
    if (left > 0) return
    this.#known.delete(keyOf(this.#values[code]))
    this.#values[code] = undefined
    this.#free.push(code)
  }

  /** Closes the gaps: the places that are there move together. */
  tidy(end: number, isThere: (place: number) => boolean): void {
    let to = 0
    for (let place = 0; place < end; place++) {
      if (isThere(place)) this.#codes[to++] = this.#codes[place] ?? NONE
    }
    this.#codes.fill(NONE, to)
  }

  clear(): void {
    this.#codes = new Uint32Array(64)
    this.#values = [undefined]
    this.#counts = [0]
    this.#free = []
    this.#known.clear()
  }

  /** The places whose value is wanted, until the next change. */
  where(isWanted: (value: unknown) => boolean): (place: number) => boolean {
    const wanted = new Uint8Array(this.#values.length)
    for (let code = 1; code < wanted.length; code++) {
      if ((this.#counts[code] ?? 0) > 0 && isWanted(this.#values[code])) wanted[code] = 1
    }
    const codes = this.#codes
    return (place) => wanted[codes[place] ?? NONE] === 1
  }

  #codeOf(value: unknown): number {
    const key = keyOf(value)
    let code = this.#known.get(key)
    if (code === undefined) {
      code = this.#free.pop() ?? this.#values.length
      this.#known.set(key, code)
      this.#values[code] = value
      this.#counts[code] = 0
    }
    return code
  }

  #grow(place: number): void {
    const codes = new Uint32Array(Math.max(2 * this.#codes.length, place + 1))
    codes.set(this.#codes)
    this.#codes = codes
  }
}

/** Equal for equal values. */
function keyOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  for (const _name in value) return JSON.stringify(value)
  return NOTHING_IN_IT
}

/** Most metadata is empty. */
const NOTHING_IN_IT = Symbol('{}')

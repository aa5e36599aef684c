type Fields = Record<string, unknown>

/**
 * Maximum number of samples for each kind. Optional fields give a kind a few shapes; objects of
 * further shapes are stored unpacked.
 */
const MAX_SAMPLES = 8
const UNPACKED = -1

/**
 * Packs JSON objects into short texts. Rows of one kind are nearly equal: an invoice has about
 * ninety fields, most of them null or the same in all invoices. The first object of a shape becomes
 * a sample, and each later one is stored as its differences: `[sample, field number, value, field
 * number, value, …]`.
 */
export class RowPacker<T extends object> {
  readonly #kindOf: (value: T) => string
  readonly #samples: PackingSample[] = []
  /** Positions of the samples in the list of samples, by the kind of row. */
  readonly #places = new Map<string, number[]>()

  /** Objects of different kinds (see `kindOf`) never share a sample. */
  constructor(kindOf: (value: T) => string = () => '') {
    this.#kindOf = kindOf
  }

  toText(value: T): string {
    const kind = this.#kindOf(value)
    const places = this.#places.get(kind) ?? []
    for (const place of places) {
      const packed = [place]
      if (addDifference(this.#samples[place] as PackingSample, value, packed))
        return JSON.stringify(packed)
    }
    if (places.length === MAX_SAMPLES) return JSON.stringify([UNPACKED, value])
    const place = this.#samples.push(toSample(value as Fields, 0)) - 1
    this.#places.set(kind, [...places, place])
    return JSON.stringify([place])
  }

  /** Converts a packed text back to a new object. */
  fromText(text: string): T {
    const packed = JSON.parse(text) as unknown[]
    const sample = this.#samples[packed[0] as number]
    return (sample ? rebuild(sample, { packed, at: 1 }) : packed[1]) as T
  }
}

/** An object or an array, split into its fields. */
interface PackingSample {
  readonly names: readonly string[]
  /** Values of the fields, in order: a nested sample for an object, otherwise the value itself. */
  readonly fields: readonly unknown[]
  /** Number of each field. The fields nested in a field have the numbers that follow it. */
  readonly numbers: readonly number[]
  /** First number after all nested fields. */
  readonly end: number
  /** Object to copy from. V8 copies a whole object much faster than it adds fields to a new one. */
  readonly original: Fields
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function copyOf(value: object): Fields {
  return (Array.isArray(value) ? [...value] : { ...value }) as Fields
}

function toSample(value: Fields, first: number): PackingSample {
  const names = Object.keys(value).filter((name) => value[name] !== undefined)
  // Keeps the positions of undefined fields.
  const original = copyOf(value)
  const numbers: number[] = []
  let end = first
  const fields = names.map((name) => {
    numbers.push(end++)
    const field = value[name]
    if (!isObject(field)) return field
    const inner = toSample(field as Fields, end)
    original[name] = inner.original
    end = inner.end
    return inner
  })
  return { names, fields, numbers, end, original }
}

/**
 * Adds `number, value, …` for each field that differs from the sample. Returns `false` if the value
 * does not have the same fields as the sample; the caller must then discard what was added.
 */
function addDifference(sample: PackingSample, value: unknown, packed: unknown[]): boolean {
  const { names, fields, original } = sample
  if (!isObject(value) || Array.isArray(value) !== Array.isArray(original)) return false
  if (Array.isArray(value)) {
    // Arrays are handled apart: V8 iterates field names several times faster if the loop below
    // never sees an array.
    if (value.length !== fields.length) return false
    for (let place = 0; place < fields.length; place++) {
      if (value[place] !== fields[place]) addField(sample, place, value[place], packed)
    }
    return true
  }
  let place = 0
  for (const name in value) {
    const field = (value as Fields)[name]
    // JSON omits undefined fields.
    if (field === undefined) continue
    if (names[place] !== name) return false
    if (field !== fields[place]) addField(sample, place, field, packed)
    place++
  }
  return place === names.length
}

function addField(
  { fields, numbers }: PackingSample,
  place: number,
  field: unknown,
  packed: unknown[],
): void {
  const usual = fields[place]
  const before = packed.length
  if (isObject(usual) && addDifference(usual as PackingSample, field, packed)) return
  if (packed.length > before) packed.length = before
  packed.push(numbers[place], field)
}

/** Reverses `addDifference`. `at` is the read position in `packed`. */
function rebuild(
  sample: PackingSample,
  reading: { readonly packed: unknown[]; at: number },
): Fields {
  const { names, fields, numbers, original } = sample
  const built = copyOf(original)
  for (let place = 0; place < names.length; place++) {
    const usual = fields[place]
    if (reading.packed[reading.at] === numbers[place]) {
      built[names[place] as string] = reading.packed[reading.at + 1]
      reading.at += 2
    } else if (isObject(usual)) {
      built[names[place] as string] = rebuild(usual as PackingSample, reading)
    }
  }
  return built
}

import { BadRequest, ErrorCollector, type ErrorPath, NotAuthorized, Refused } from './errors.ts'
import { type AmountFault, parseAmount } from './money.ts'
import type { XmlObject } from './xml.ts'

/** Whether a text can be part of a URL path as an id or token. */
export function isId(text: string): boolean {
  return /^[A-Za-z0-9_-]+$/.test(text)
}

/**
 * Reads an object of the params as leniently as Rails: `"true"` is true, `"3"` is 3. It knows its
 * location in the params, where its errors are reported. All objects of a call share one list of
 * errors.
 */
export class Fields {
  readonly values: Readonly<Record<string, unknown>>
  readonly path: ErrorPath
  readonly errors: ErrorCollector

  constructor(value: unknown, path: ErrorPath = [], errors = new ErrorCollector()) {
    if (value === undefined || value === null) this.values = {}
    else if (isObject(value)) this.values = value
    else throw new BadRequest('An object was expected')
    this.path = path
    this.errors = errors
  }

  /** Returns the same values with another location for errors. */
  at(...path: string[]): Fields {
    return new Fields(this.values, path, this.errors)
  }

  /** Returns a copy with some values replaced. */
  with(values: Readonly<Record<string, unknown>>): Fields {
    return new Fields({ ...this.values, ...values }, this.path, this.errors)
  }

  /** Reports an error in a field. Reading continues, to find all errors of the call. */
  addError(key: string, code: string, detail?: string): void {
    this.errors.add(this.path, key, code, detail)
  }

  /** Rejects the call if any error was reported. */
  throwIfAny(): void {
    this.errors.throwIfAny()
  }

  /** Reports an error and rejects the call. */
  refuse(key: string, code: string, extras?: XmlObject): never {
    this.addError(key, code)
    throw this.refusal(extras)
  }

  /** Returns the rejection with all errors reported so far. `extras` are sent beside them. */
  refusal(extras: XmlObject = {}): Refused {
    return new Refused({ errors: this.errors, extras })
  }

  /** Whether the key was sent, even as null. */
  has(key: string): boolean {
    return Object.hasOwn(this.values, key) && this.values[key] !== undefined
  }

  isBlank(key: string): boolean {
    const value = this.#own(key)
    return value === undefined || value === null || value === ''
  }

  value(key: string): unknown {
    return this.#own(key)
  }

  /** Returns a text. `null` if it is blank. */
  text(key: string): string | null {
    const value = this.#own(key)
    if (value === undefined || value === null || value === '') return null
    if (typeof value === 'object') throw new BadRequest(`${key} cannot be an object`)
    return String(value)
  }

  /** Returns a boolean. `undefined` if it is blank. */
  flag(key: string): boolean | undefined {
    const text = this.text(key)
    if (text === null) return undefined
    return text === 'true' || text === '1'
  }

  /** Returns an integer. `NaN` for other values, `null` if it is blank. */
  integer(key: string): number | null {
    const text = this.text(key)
    if (text === null) return null
    return /^-?\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  }

  object(key: string): Fields {
    return new Fields(this.#own(key), [...this.path, key], this.errors)
  }

  /** Returns the objects of a list. */
  objects(key: string): Fields[] {
    return this.list(key).map(
      (item, at) => new Fields(item, [...this.path, key, `index_${at}`], this.errors),
    )
  }

  list(key: string): readonly unknown[] {
    const value = this.#own(key)
    if (value === undefined || value === null) return []
    if (!Array.isArray(value)) throw new BadRequest(`${key} must be a list`)
    return value
  }

  /** Reports an error if the text fails the test. A blank text passes. */
  check(key: string, isRight: (text: string) => boolean, code: string): void {
    const text = this.text(key)
    if (text !== null && !isRight(text)) this.addError(key, code)
  }

  checkLength(key: string, longest: number, code: string): void {
    this.check(key, (text) => text.length <= longest, code)
  }

  /**
   * Returns an amount in minor units. After reporting an error it returns `0`; the call is rejected
   * anyway.
   */
  amount(key: string, { codes, currency, largest = Infinity, otherwise }: AmountRules): number {
    if (codes.missing !== undefined && this.isBlank(key)) {
      this.addError(key, codes.missing)
      return 0
    }
    const parsed = parseAmount(this.#own(key) ?? otherwise, currency)
    if (typeof parsed === 'string') this.addError(key, codes[parsed])
    else if (parsed > largest) this.addError(key, codes['too-large'])
    else if (parsed === 0 && codes.zero !== undefined) this.addError(key, codes.zero)
    else return parsed
    return 0
  }

  /** Returns a new id, or `null` if it is blank. Reports an error if the id is invalid or taken. */
  newId(key: string, codes: IdCodes, isTaken: (id: string) => boolean): string | null {
    const id = this.text(key)
    if (id === null) return null
    if (!isId(id)) this.addError(key, codes.invalid)
    else if (id.length > MAX_ID_LENGTH) this.addError(key, codes['too-long'])
    else if (codes.reserved && (id === 'all' || id === 'new')) this.addError(key, codes.reserved)
    else if (isTaken(id)) this.addError(key, codes.taken)
    return id
  }

  /**
   * Rejects parameters that Braintree has but the sandbox does not support. They are never ignored.
   */
  refuseUnsupported(keys: ReadonlySet<string>): void {
    const given = Object.keys(this.values).filter(
      (key) => keys.has(key) && !this.isBlank(key) && this.value(key) !== false,
    )
    if (given.length === 0) return
    const [root = '', ...inside] = this.path
    const parent = root + inside.map((name) => `[${name}]`).join('')
    const names = given.map((key) => `${parent}[${key}]`).join(', ')
    throw new Refused({ message: `This sandbox does not imitate ${names}: leave it out.` })
  }

  /** Rejects unknown parameters with 403, like Braintree. */
  permit(keys: ReadonlySet<string>): void {
    for (const key of Object.keys(this.values)) {
      if (!keys.has(key)) throw new NotAuthorized(`Parameter not permitted: ${key}`)
    }
  }

  // Own keys only: a body may contain `{"constructor": …}`.
  #own(key: string): unknown {
    return Object.hasOwn(this.values, key) ? this.values[key] : undefined
  }
}

export function permitted(keys: string): ReadonlySet<string> {
  return new Set(keys.split(/\s+/).filter(Boolean))
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Error codes for each way in which an amount can be wrong. */
export interface AmountCodes extends Readonly<Record<AmountFault, string>> {
  /** Code for a missing amount. Defaults to `invalid`. */
  readonly missing?: string
  /** Code for an amount of 0. Without it, 0 is valid. */
  readonly zero?: string
}

export interface AmountRules {
  readonly codes: AmountCodes
  readonly currency: string
  /** Largest amount in minor units, if less than ten digits are allowed. */
  readonly largest?: number
  /** Decimal to use if no amount was sent. */
  readonly otherwise?: string
}

const MAX_ID_LENGTH = 36

export interface IdCodes {
  readonly invalid: string
  readonly 'too-long': string
  /** Code for the ids `all` and `new`, which are paths with another meaning. */
  readonly reserved?: string
  readonly taken: string
}

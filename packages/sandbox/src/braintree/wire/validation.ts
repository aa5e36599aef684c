import {
  BadRequest,
  ErrorCollector,
  type ErrorPath,
  NotAuthorized,
  ValidationRefused,
} from './errors.ts'
import { type AmountFault, parseAmount } from './money.ts'
import type { XmlObject } from './xml.ts'

/** Whether a text can be part of a URL path as an id or token. */
export function isValidId(text: string): boolean {
  return /^[A-Za-z0-9_-]+$/.test(text)
}

/**
 * Reads one object of the parameters of a call. Values are converted as leniently as in Rails:
 * `"true"` is true, `"3"` is 3. The object knows its location in the parameters, where its errors
 * are reported. All objects of a call share one list of errors.
 */
export class RequestFields {
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

  /** Returns the same values with another location, where errors are reported. */
  at(...path: string[]): RequestFields {
    return new RequestFields(this.values, path, this.errors)
  }

  /** Returns a copy of the object with some values replaced. */
  with(values: Readonly<Record<string, unknown>>): RequestFields {
    return new RequestFields({ ...this.values, ...values }, this.path, this.errors)
  }

  /** Reports an error in a field. Reading continues, so that all errors of the call are found. */
  addError(key: string, code: string, detail?: string): void {
    this.errors.add(this.path, key, code, detail)
  }

  /** Rejects the call if any error was reported. */
  throwIfAny(): void {
    this.errors.throwIfAny()
  }

  /** Reports an error in a field and rejects the call. */
  refuse(key: string, code: string, extras?: XmlObject): never {
    this.addError(key, code)
    throw this.refusal(extras)
  }

  /**
   * Returns the rejection of the call, with all errors reported so far. `extras` are additional
   * elements of the response.
   */
  refusal(extras: XmlObject = {}): ValidationRefused {
    return new ValidationRefused({ errors: this.errors, extras })
  }

  /** Whether a field was sent, even as null. */
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

  /** Returns the text of a field. `null` if the field is blank. */
  text(key: string): string | null {
    const value = this.#own(key)
    if (value === undefined || value === null || value === '') return null
    if (typeof value === 'object') throw new BadRequest(`${key} cannot be an object`)
    return String(value)
  }

  /** Returns the boolean in a field. `undefined` if the field is blank. */
  flag(key: string): boolean | undefined {
    const text = this.text(key)
    if (text === null) return undefined
    return text === 'true' || text === '1'
  }

  /**
   * Returns the integer in a field. `null` if the field is blank, `NaN` if it holds anything else.
   */
  integer(key: string): number | null {
    const text = this.text(key)
    if (text === null) return null
    return /^-?\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  }

  object(key: string): RequestFields {
    return new RequestFields(this.#own(key), [...this.path, key], this.errors)
  }

  /** Returns the objects in the list that a field holds. */
  objects(key: string): RequestFields[] {
    return this.list(key).map(
      (item, at) => new RequestFields(item, [...this.path, key, `index_${at}`], this.errors),
    )
  }

  list(key: string): readonly unknown[] {
    const value = this.#own(key)
    if (value === undefined || value === null) return []
    if (!Array.isArray(value)) throw new BadRequest(`${key} must be a list`)
    return value
  }

  /** Reports an error if the field's text does not pass the given test. A blank field passes. */
  check(key: string, isRight: (text: string) => boolean, code: string): void {
    const text = this.text(key)
    if (text !== null && !isRight(text)) this.addError(key, code)
  }

  checkLength(key: string, longest: number, code: string): void {
    this.check(key, (text) => text.length <= longest, code)
  }

  /**
   * Returns the amount that a field holds, in minor units. If the amount is invalid, reports an
   * error and returns `0`.
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

  /**
   * Returns the id that the caller has chosen for a new object, from a field. `null` if the field
   * is blank. Reports an error if the id is invalid or taken.
   */
  newId(key: string, codes: IdErrorCodes, isTaken: (id: string) => boolean): string | null {
    const id = this.text(key)
    if (id === null) return null
    if (!isValidId(id)) this.addError(key, codes.invalid)
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
    throw new ValidationRefused({
      message: `This sandbox does not imitate ${names}: leave it out.`,
    })
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

export function parsePermittedKeys(keys: string): ReadonlySet<string> {
  return new Set(keys.split(/\s+/).filter(Boolean))
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Error codes for the ways in which an amount can be invalid. */
export interface AmountErrorCodes extends Readonly<Record<AmountFault, string>> {
  /** Error code for a missing amount. Defaults to the code of `invalid`. */
  readonly missing?: string
  /** Error code for an amount of 0. Without this code, 0 is valid. */
  readonly zero?: string
}

export interface AmountRules {
  readonly codes: AmountErrorCodes
  readonly currency: string
  /** Largest allowed amount in minor units, if it is lower than the general limit. */
  readonly largest?: number
  /** Decimal amount that is used if none was sent. */
  readonly otherwise?: string
}

const MAX_ID_LENGTH = 36

export interface IdErrorCodes {
  readonly invalid: string
  readonly 'too-long': string
  /**
   * Error code for the ids `all` and `new`, which are reserved because they have another meaning in
   * URL paths.
   */
  readonly reserved?: string
  readonly taken: string
}

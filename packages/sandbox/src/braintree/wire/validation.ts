import { BadRequest, type ErrorCollector, type ErrorPath, NotAuthorized } from './errors.ts'
import { type AmountFault, parseAmount } from './money.ts'

/** Ids and tokens that a path can carry. */
export function isId(text: string): boolean {
  return /^[A-Za-z0-9_-]+$/.test(text)
}

/** One object of the params, read with Rails' leniency: `"true"` is true, `"3"` is 3. */
export class Fields {
  readonly values: Readonly<Record<string, unknown>>

  constructor(value: unknown) {
    if (value === undefined || value === null) this.values = {}
    else if (isObject(value)) this.values = value
    else throw new BadRequest('An object was expected')
  }

  /** Whether the key was sent at all, be it null. */
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

  /** Null when blank. */
  text(key: string): string | null {
    const value = this.#own(key)
    if (value === undefined || value === null || value === '') return null
    if (typeof value === 'object') throw new BadRequest(`${key} cannot be an object`)
    return String(value)
  }

  /** Undefined when blank. */
  flag(key: string): boolean | undefined {
    const text = this.text(key)
    if (text === null) return undefined
    return text === 'true' || text === '1'
  }

  /** `NaN` for what is no whole number, null when blank. */
  integer(key: string): number | null {
    const text = this.text(key)
    if (text === null) return null
    return /^-?\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  }

  object(key: string): Fields {
    return new Fields(this.#own(key))
  }

  list(key: string): readonly unknown[] {
    const value = this.#own(key)
    if (value === undefined || value === null) return []
    if (!Array.isArray(value)) throw new BadRequest(`${key} must be a list`)
    return value
  }

  /** Braintree answers 403 to a parameter it does not know. */
  permit(keys: ReadonlySet<string>): void {
    for (const key of Object.keys(this.values)) {
      if (!keys.has(key)) throw new NotAuthorized(`Parameter not permitted: ${key}`)
    }
  }

  // Own keys only: a body may well say `{"constructor": …}`.
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

/** The validation code for each way an amount can be wrong. */
export type AmountCodes = Readonly<Record<AmountFault, string>>

export interface AmountRules {
  readonly path: ErrorPath
  readonly attribute: string
  readonly codes: AmountCodes
  readonly currency: string
  /** In minor units, where less than ten digits are allowed. */
  readonly largest?: number
}

/** The amount in minor units; 0 after adding an error, which will refuse the request anyway. */
export function readAmount(value: unknown, rules: AmountRules, errors: ErrorCollector): number {
  const parsed = parseAmount(value, rules.currency)
  const isTooLarge = typeof parsed === 'number' && parsed > (rules.largest ?? Infinity)
  const amount = isTooLarge ? 'too-large' : parsed
  if (typeof amount === 'number') return amount
  errors.add(rules.path, rules.attribute, rules.codes[amount])
  return 0
}

export function checkLength(
  fields: Fields,
  key: string,
  rule: { path: ErrorPath; longest: number; code: string },
  errors: ErrorCollector,
): void {
  if ((fields.text(key) ?? '').length > rule.longest) errors.add(rule.path, key, rule.code)
}

import { InvalidAmount } from '../errors/errors.ts'
import { formatValue } from './arguments.ts'
import { requireLocale } from './locale.ts'

/** An amount in the currency's smallest unit: `money(1999, 'eur')` is 19.99 €. */
export interface Money {
  /** A whole number of the currency's smallest unit. */
  readonly amount: number
  /** ISO 4217 code in lower case. */
  readonly currency: string
}

/**
 * An amount. A plain number is in the provider's own unit: cents at Stripe, whole currency units at
 * Braintree.
 */
export type Amount = number | Money

/**
 * Currencies that were withdrawn from ISO 4217, so that runtimes may not know them. Providers still
 * charge in them.
 */
const WITHDRAWN = 'ang bgn hrk mro sll std'.split(' ')

const CURRENCIES = new Set([
  ...Intl.supportedValuesOf('currency').map((code) => code.toLowerCase()),
  ...WITHDRAWN,
])

/** Whether this is a currency code, in upper or lower case. */
export function isCurrency(code: unknown): code is string {
  return typeof code === 'string' && CURRENCIES.has(code.toLowerCase())
}

/**
 * Validates money that a caller passed, possibly from a form.
 * @throws InvalidAmount for fractions of the smallest unit, and unknown currencies.
 */
export function requireMoney(value: unknown): Money {
  const { amount, currency } = (value ?? {}) as { amount?: unknown; currency?: unknown }
  if (typeof value !== 'object' || value === null) {
    throw new InvalidAmount(`${formatValue(value)} is not an amount; expected a number or money()`)
  }
  if (!isCurrency(currency)) {
    throw new InvalidAmount(
      `The currency is ${formatValue(currency)}; expected an ISO 4217 code such as 'usd'`,
    )
  }
  return money(amount as number, currency)
}

/**
 * Makes an amount in a currency's smallest unit.
 * @throws InvalidAmount for fractions of the smallest unit, and unknown currencies.
 */
export function createMoney(amount: number, currency: string): Money {
  return requireMoney({ amount, currency })
}

/**
 * Validates an amount to be charged or refunded. A plain number is in the unit of the provider.
 * @throws InvalidAmount for fractions of the smallest unit, unknown currencies, and amounts not
 * above zero.
 */
export function requireAmount(amount: unknown, toMoney: (amount: Amount) => Money): Money {
  const value = toMoney(typeof amount === 'number' ? amount : requireMoney(amount))
  if (value.amount > 0) return value
  throw new InvalidAmount(
    `${toDecimal(value)} ${value.currency} is not a valid amount; expected an amount above 0`,
  )
}

/**
 * Makes money from values of a provider or of our own rows, whose currency may be newer than this
 * runtime. For values from callers use `requireMoney()`.
 */
export function money(amount: number, currency: string): Money {
  if (!Number.isSafeInteger(amount)) {
    throw new InvalidAmount(
      `${formatValue(amount)} is not an amount; expected a whole number of the currency's smallest unit`,
    )
  }
  if (!/^[a-z]{3}$/i.test(currency)) throw new InvalidAmount(`'${currency}' is not a currency code`)
  return { amount, currency: currency.toLowerCase() }
}

const ZERO_DECIMALS = new Set(
  'bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf'.split(' '),
)
const THREE_DECIMALS = new Set('bhd iqd jod kwd lyd omr tnd'.split(' '))

/** Returns the number of decimals of a currency, such as 2 for `eur` and 0 for `jpy`. */
export function getCurrencyDecimals(currency: string): number {
  const code = currency.toLowerCase()
  if (ZERO_DECIMALS.has(code)) return 0
  return THREE_DECIMALS.has(code) ? 3 : 2
}

/**
 * Writes an amount as decimal text, the format of Braintree: 1999 usd is `19.99`, 500 jpy is `500`.
 */
export function toDecimal({ amount, currency }: Money): string {
  const decimals = getCurrencyDecimals(currency)
  const digits = String(Math.abs(amount)).padStart(decimals + 1, '0')
  const sign = amount < 0 ? '-' : ''
  if (decimals === 0) return `${sign}${digits}`
  return `${sign}${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`
}

/**
 * Parses decimal text: `19.99` → 1999.
 * @throws InvalidAmount for more decimals than the currency has; nothing is rounded.
 */
export function fromDecimal(text: string | number, currency: string): Money {
  const decimals = getCurrencyDecimals(currency)
  const match = /^(-?)(\d{1,13})(?:\.(\d+))?$/.exec(String(text))
  const fraction = (match?.[3] ?? '').replace(/0+$/, '')
  if (!match || fraction.length > decimals) {
    throw new InvalidAmount(
      `${text} is not an amount of ${currency.toUpperCase()}, which has ${decimals} decimals`,
    )
  }
  const amount = Number(`${match[2]}${fraction.padEnd(decimals, '0')}`)
  return money(match[1] && amount !== 0 ? -amount : amount, currency)
}

/** Formats an amount with `Intl`: `€19.99`, `¥500`. */
export function formatMoney(value: Money, locale = 'en-US'): string {
  return formatFor(value.currency, locale).format(toDecimal(value) as `${number}`)
}

const formats = new Map<string, Intl.NumberFormat>()

/** Returns a cached formatter, because creating one costs more than using it a hundred times. */
function formatFor(currency: string, locale: string): Intl.NumberFormat {
  const key = `${locale} ${currency}`
  let format = formats.get(key)
  if (!format) {
    const decimals = getCurrencyDecimals(currency)
    format = new Intl.NumberFormat(requireLocale('locale', locale), {
      style: 'currency',
      currency: currency.toUpperCase(),
      minimumFractionDigits: decimals,
      maximumFractionDigits: decimals,
    })
    if (formats.size > 500) formats.clear()
    formats.set(key, format)
  }
  return format
}

/**
 * Returns `amount × numerator ÷ denominator`, rounded to the nearest integer, with halves rounded
 * away from zero. Exact for large numbers too.
 */
export function calculateProportion(
  amount: number,
  numerator: number,
  denominator: number,
): number {
  const product = BigInt(Math.abs(amount)) * BigInt(numerator)
  const rounded = (2n * product + BigInt(denominator)) / (2n * BigInt(denominator))
  return Number(amount < 0 ? -rounded : rounded)
}

import { InvalidAmount } from '../errors.ts'
import { shown } from './arguments.ts'
import { requireLocale } from './locale.ts'

/** An amount in the currency's smallest unit: `money(1999, 'eur')` is 19.99 €. */
export interface Money {
  /** A whole number of the currency's smallest unit. */
  readonly amount: number
  /** Lower case ISO 4217. */
  readonly currency: string
}

/** A plain number is in the provider's own unit: Stripe cents, Braintree the whole amount. */
export type Amount = number | Money

/** Withdrawn from ISO 4217, so that a runtime may not know them. Providers still charge them. */
const WITHDRAWN = 'ang bgn hrk mro sll std'.split(' ')

const CURRENCIES = new Set([
  ...Intl.supportedValuesOf('currency').map((code) => code.toLowerCase()),
  ...WITHDRAWN,
])

/** Whether this is the code of a currency, in whatever case. */
export function isCurrency(code: unknown): code is string {
  return typeof code === 'string' && CURRENCIES.has(code.toLowerCase())
}

/**
 * Makes money of what a caller says, which may come from a form. Throws InvalidAmount for fractions of the smallest unit
 * and for what is no currency.
 */
export function requireMoney(value: unknown): Money {
  const { amount, currency } = (value ?? {}) as { amount?: unknown; currency?: unknown }
  if (typeof value !== 'object' || value === null) {
    throw new InvalidAmount(`${shown(value)} is not an amount; expected a number or money()`)
  }
  if (!isCurrency(currency)) {
    throw new InvalidAmount(
      `The currency is ${shown(currency)}; expected a code of ISO 4217 such as 'usd'`,
    )
  }
  return money(amount as number, currency)
}

/**
 * An amount in a currency's smallest unit. Throws InvalidAmount for fractions and for what is no
 * currency.
 */
export function statedMoney(amount: number, currency: string): Money {
  return requireMoney({ amount, currency })
}

/**
 * Makes money of an amount that is to be moved, by the unit of the provider. Throws InvalidAmount for what cannot be
 * charged: fractions of the smallest unit, unknown currencies, and what is not above zero.
 */
export function requireAmount(amount: unknown, toMoney: (amount: Amount) => Money): Money {
  const value = toMoney(typeof amount === 'number' ? amount : requireMoney(amount))
  if (value.amount > 0) return value
  throw new InvalidAmount(`${toDecimal(value)} ${value.currency} cannot be charged`)
}

/**
 * Makes money of what a provider or our own row says. Its currency may be newer than this runtime; what callers say goes
 * through `requireMoney()`.
 */
export function money(amount: number, currency: string): Money {
  if (!Number.isSafeInteger(amount)) {
    throw new InvalidAmount(`${shown(amount)} is not a whole number of the smallest unit`)
  }
  if (!/^[a-z]{3}$/i.test(currency)) throw new InvalidAmount(`'${currency}' is not a currency code`)
  return { amount, currency: currency.toLowerCase() }
}

const ZERO_DECIMALS = new Set(
  'bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf'.split(' '),
)
const THREE_DECIMALS = new Set('bhd iqd jod kwd lyd omr tnd'.split(' '))

/** How many decimals the smallest unit stands for. */
export function decimalsOf(currency: string): number {
  const code = currency.toLowerCase()
  if (ZERO_DECIMALS.has(code)) return 0
  return THREE_DECIMALS.has(code) ? 3 : 2
}

/** Writes an amount as decimal text, as Braintree takes it: 1999 usd is `19.99`, 500 jpy is `500`. */
export function toDecimal({ amount, currency }: Money): string {
  const decimals = decimalsOf(currency)
  const digits = String(Math.abs(amount)).padStart(decimals + 1, '0')
  const sign = amount < 0 ? '-' : ''
  if (decimals === 0) return `${sign}${digits}`
  return `${sign}${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`
}

/** `19.99` → 1999. More decimals than the currency has are refused, not rounded. */
export function fromDecimal(text: string | number, currency: string): Money {
  const decimals = decimalsOf(currency)
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

/** Intl-formatted: `€19.99`, `¥500`. */
export function formatMoney(value: Money, locale = 'en-US'): string {
  return formatFor(value.currency, locale).format(toDecimal(value) as `${number}`)
}

const formats = new Map<string, Intl.NumberFormat>()

/** Making a format costs more than using it a hundred times. */
function formatFor(currency: string, locale: string): Intl.NumberFormat {
  const key = `${locale} ${currency}`
  let format = formats.get(key)
  if (!format) {
    const decimals = decimalsOf(currency)
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

/** `amount × numerator ÷ denominator` to the nearest unit, half away from zero, exact at any size. */
export function proportion(amount: number, numerator: number, denominator: number): number {
  const product = BigInt(Math.abs(amount)) * BigInt(numerator)
  const rounded = (2n * product + BigInt(denominator)) / (2n * BigInt(denominator))
  return Number(amount < 0 ? -rounded : rounded)
}

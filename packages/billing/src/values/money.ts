import { InvalidAmount } from '../errors.ts'
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

/**
 * An amount in a currency's smallest unit. Throws InvalidAmount for fractions and for what is no
 * currency.
 */
export function money(amount: number, currency: string): Money {
  if (!Number.isSafeInteger(amount)) {
    throw new InvalidAmount(`${amount} is not a whole number of the smallest unit`)
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

/** What may be charged: above zero. */
export function requirePositive(value: Money): Money {
  if (value.amount > 0) return value
  throw new InvalidAmount(`${toDecimal(value)} ${value.currency} cannot be charged`)
}

/** `amount × numerator ÷ denominator` to the nearest unit, half away from zero, exact at any size. */
export function proportion(amount: number, numerator: number, denominator: number): number {
  const product = BigInt(Math.abs(amount)) * BigInt(numerator)
  const rounded = (2n * product + BigInt(denominator)) / (2n * BigInt(denominator))
  return Number(amount < 0 ? -rounded : rounded)
}

import { divideAndRound, multiplyFraction } from '../../core/rounding.ts'
import { createInvalidRequestFault } from './errors.ts'
import { splitWords } from './words.ts'

/**
 * Returns a percentage of an amount, rounded to minor units. `percent` may have up to four
 * decimals.
 */
export function computePercentage(amount: number, percent: number): number {
  return multiplyFraction(amount, Math.round(percent * 10_000), 1_000_000)
}

/** Returns the tax that an amount contains (inclusive tax), rounded to minor units. */
export function computeInclusiveTax(amount: number, percent: number): number {
  const scaled = Math.round(percent * 10_000)
  return multiplyFraction(amount, scaled, 1_000_000 + scaled)
}

/** Multiplies a decimal amount, such as `"0.5"` cents, by a quantity, and rounds to minor units. */
export function multiplyDecimal(decimal: string, quantity: number): number {
  const [whole = '0', fraction = ''] = decimal.replace('-', '').split('.')
  const scale = 10n ** BigInt(fraction.length)
  const value = BigInt(whole + fraction) * BigInt(quantity)
  const rounded = divideAndRound(value, scale)
  return decimal.startsWith('-') ? -rounded : rounded
}

/**
 * Splits an amount in proportion to the weights. The parts add up to the amount exactly (largest
 * remainder method).
 */
export function allocateByWeight(total: number, weights: readonly number[]): number[] {
  const sum = weights.reduce((a, b) => a + b, 0)
  if (sum === 0) return weights.map(() => 0)
  const exact = weights.map((weight) => (BigInt(total) * BigInt(weight) * 1_000_000n) / BigInt(sum))
  const parts = exact.map((value) => Number(value / 1_000_000n))
  let rest = total - parts.reduce((a, b) => a + b, 0)
  const order = exact
    .map((value, at) => ({ at, remainder: Number(value % 1_000_000n) }))
    .sort((a, b) => Math.abs(b.remainder) - Math.abs(a.remainder) || a.at - b.at)
  for (let i = 0; rest !== 0 && order.length > 0; i = (i + 1) % order.length) {
    const at = order[i]?.at ?? 0
    parts[at] = (parts[at] ?? 0) + Math.sign(rest)
    rest -= Math.sign(rest)
  }
  return parts
}

/**
 * Minimum charge by currency. A smaller invoice amount is carried over to the customer's balance.
 */
const MINIMUM_CHARGES: Readonly<Record<string, number>> = {
  gbp: 30,
  sek: 300,
  nok: 300,
  dkk: 250,
  mxn: 1000,
  pln: 200,
}

export function getMinimumCharge(currency: string): number {
  return MINIMUM_CHARGES[currency] ?? 50
}

const CURRENCIES = new Set(
  splitWords(`
    usd aed afn all amd ang aoa ars aud awg azn bam bbd bdt bgn bhd bif bmd bnd bob brl bsd bwp
    byn bzd cad cdf chf clp cny cop crc cve czk djf dkk dop dzd egp etb eur fjd fkp gbp gel gip
    gmd gnf gtq gyd hkd hnl htg huf idr ils inr isk jmd jod jpy kes kgs khr kmf krw kwd kyd kzt
    lak lbp lkr lrd lsl mad mdl mga mkd mmk mnt mop mur mvr mwk mxn myr mzn nad ngn nio nok npr
    nzd omr pab pen pgk php pkr pln pyg qar ron rsd rub rwf sar sbd scr sek sgd shp sle sos srd
    std szl thb tjs tnd top try ttd twd tzs uah ugx uyu uzs vnd vuv wst xaf xcd xcg xof xpf yer
    zar zmw
  `),
)

export function isCurrency(code: string): boolean {
  return CURRENCIES.has(code)
}

const ZERO_DECIMAL = new Set(
  splitWords('bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf'),
)
const THREE_DECIMAL = new Set(splitWords('bhd jod kwd omr tnd'))

/**
 * Rejects an amount with a non-zero third decimal in a three-decimal currency, because card
 * networks support only two decimals. Fractions of the smallest unit, which only unit prices have,
 * are allowed.
 */
export function checkThirdDecimal(
  amount: number | string,
  currency: string | null,
  param: string,
): void {
  if (currency === null || !THREE_DECIMAL.has(currency)) return
  if (!Number.isInteger(Number(amount)) || Number(amount) % 10 === 0) return
  throw createInvalidRequestFault(
    `Invalid amount: ${amount}. Amounts in ${currency} have three decimals, of which the last must be 0.`,
    param,
    'parameter_invalid_integer',
  )
}

function countCurrencyDecimals(currency: string): number {
  if (ZERO_DECIMAL.has(currency)) return 0
  return THREE_DECIMAL.has(currency) ? 3 : 2
}

const SIGNS: Readonly<Record<string, string>> = { usd: '$', eur: '€', gbp: '£', jpy: '¥' }

/** Formats an amount in minor units for descriptions, such as `$10.00`. */
export function formatAmount(amount: number, currency: string): string {
  const digits = countCurrencyDecimals(currency)
  const text = (Math.abs(amount) / 10 ** digits).toFixed(digits)
  const sign = SIGNS[currency]
  return `${amount < 0 ? '-' : ''}${sign ?? ''}${text}${sign ? '' : ` ${currency.toUpperCase()}`}`
}

/** Formats the minimum charge in a currency for error messages, such as `$0.50 usd`. */
export function formatMinimum(currency: string): string {
  const text = formatAmount(getMinimumCharge(currency), currency)
  return SIGNS[currency] ? `${text} ${currency}` : text.toLowerCase()
}

/** Formats a decimal amount in minor units with all its decimals, such as `$0.005`. */
export function formatDecimal(decimal: string, currency: string): string {
  if (/^-?\d+(?:\.0+)?$/.test(decimal)) return formatAmount(Number(decimal), currency)
  const [whole = '0', fraction = ''] = decimal.split('.')
  const digits = countCurrencyDecimals(currency)
  const all = whole.padStart(digits + 1, '0')
  const places = `${all.slice(all.length - digits)}${fraction.replace(/0+$/, '')}`
  const text = `${all.slice(0, all.length - digits)}.${places}`
  const sign = SIGNS[currency]
  return `${sign ?? ''}${text}${sign ? '' : ` ${currency.toUpperCase()}`}`
}

export function requireCurrency(code: string, param = 'currency'): string {
  const currency = code.toLowerCase()
  if (!isCurrency(currency)) {
    throw createInvalidRequestFault(
      `Invalid currency: ${code}. Stripe currently supports these currencies: usd, aed, afn, …`,
      param,
    )
  }
  return currency
}

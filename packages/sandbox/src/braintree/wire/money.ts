const ZERO_DECIMAL = new Set(
  'BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF UGX VND VUV XAF XOF XPF'.split(' '),
)
const THREE_DECIMAL = new Set('BHD IQD JOD KWD LYD OMR TND'.split(' '))

/**
 * Largest amount in major units: ten digits before the decimal point. Every amount field rejects
 * larger amounts as "too large".
 */
const LARGEST_MAJOR = 9_999_999_999

/** Largest amount in minor units of Braintree's newer fields, which are 32-bit integers. */
export const MAX_32_BIT_AMOUNT = 2 ** 31 - 1

export function getCurrencyDecimals(currency: string): number {
  if (ZERO_DECIMAL.has(currency)) return 0
  return THREE_DECIMAL.has(currency) ? 3 : 2
}

/** Returns the largest amount in minor units that is allowed in a currency. */
export function getLargestAmount(currency: string): number {
  return LARGEST_MAJOR * 10 ** getCurrencyDecimals(currency)
}

export type AmountFault = 'invalid' | 'negative' | 'too-large'

/**
 * Parses a decimal amount to minor units. The SDK sends numbers as JSON floats, which are read as
 * their shortest decimal text: `12.5` is 12.50, and rounding errors such as `0.1 + 0.2` are
 * rejected.
 */
export function parseAmount(value: unknown, currency: string): number | AmountFault {
  if (typeof value !== 'string' && typeof value !== 'number') return 'invalid'
  const match = /^(-?)(\d+)(?:\.(\d+))?$/.exec(String(value).trim())
  if (!match) return 'invalid'
  const [, sign, whole = '', fraction = ''] = match
  const decimals = getCurrencyDecimals(currency)
  if (fraction.length > decimals) return 'invalid'
  if (Number(whole) > LARGEST_MAJOR) return 'too-large'
  const minor = Number(whole) * 10 ** decimals + Number(fraction.padEnd(decimals, '0') || 0)
  if (sign && minor > 0) return 'negative'
  return minor
}

/**
 * Formats an amount in minor units as a decimal, such as `12.34` for 1234 cents. Keeps the sign of
 * negative balances.
 */
export function formatAmount(minor: number, currency: string): string {
  const decimals = getCurrencyDecimals(currency)
  if (decimals === 0) return String(minor)
  const digits = String(Math.abs(minor)).padStart(decimals + 1, '0')
  const text = `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`
  return minor < 0 ? `-${text}` : text
}

/** Returns the whole major units of an amount, by which Braintree's test amounts are recognized. */
export function toMajorUnits(minor: number, currency: string): number {
  return Math.floor(minor / 10 ** getCurrencyDecimals(currency))
}

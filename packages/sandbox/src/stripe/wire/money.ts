import { multiplyFraction, roundedQuotient } from '../../core/rounding.ts'
import { invalidRequest } from './errors.ts'

/** `percent` may have up to four decimals. */
export function percentOf(amount: number, percent: number): number {
  return multiplyFraction(amount, Math.round(percent * 10_000), 1_000_000)
}

/** The tax already inside an amount. */
export function inclusivePart(amount: number, percent: number): number {
  const scaled = Math.round(percent * 10_000)
  return multiplyFraction(amount, scaled, 1_000_000 + scaled)
}

/** A decimal such as `"0.5"` cents times a quantity, rounded to cents. */
export function multiplyDecimal(decimal: string, quantity: number): number {
  const [whole = '0', fraction = ''] = decimal.replace('-', '').split('.')
  const scale = 10n ** BigInt(fraction.length)
  const value = BigInt(whole + fraction) * BigInt(quantity)
  const rounded = roundedQuotient(value, scale)
  return decimal.startsWith('-') ? -rounded : rounded
}

/** Splits a total by weights; the parts add up to it exactly (largest remainder). */
export function allocate(total: number, weights: readonly number[]): number[] {
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

/** The least Stripe charges; a smaller invoice is carried over on the customer's balance. */
const MINIMUM_CHARGES: Readonly<Record<string, number>> = {
  usd: 50,
  eur: 50,
  gbp: 30,
  cad: 50,
  aud: 50,
  chf: 50,
  jpy: 50,
  sek: 300,
  nok: 300,
  dkk: 250,
  mxn: 1000,
  pln: 200,
  inr: 50,
}

export function minimumCharge(currency: string): number {
  return MINIMUM_CHARGES[currency] ?? 50
}

const CURRENCIES = new Set(
  'usd aed afn all amd ang aoa ars aud awg azn bam bbd bdt bgn bhd bif bmd bnd bob brl bsd bwp byn bzd cad cdf chf clp cny cop crc cve czk djf dkk dop dzd egp etb eur fjd fkp gbp gel gip gmd gnf gtq gyd hkd hnl htg huf idr ils inr isk jmd jod jpy kes kgs khr kmf krw kwd kyd kzt lak lbp lkr lrd lsl mad mdl mga mkd mmk mnt mop mur mvr mwk mxn myr mzn nad ngn nio nok npr nzd omr pab pen pgk php pkr pln pyg qar ron rsd rub rwf sar sbd scr sek sgd shp sle sos srd std szl thb tjs tnd top try ttd twd tzs uah ugx uyu uzs vnd vuv wst xaf xcd xcg xof xpf yer zar zmw'.split(
    ' ',
  ),
)

export function isCurrency(code: string): boolean {
  return CURRENCIES.has(code)
}

const ZERO_DECIMAL = new Set(
  'bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf'.split(' '),
)
const THREE_DECIMAL = new Set('bhd jod kwd omr tnd'.split(' '))

/** Refuses an amount of three decimals whose last is not 0: card networks have two. Parts of the last one are prices of single units. */
export function checkThirdDecimal(
  amount: number | string,
  currency: string | null,
  param: string,
): void {
  if (currency === null || !THREE_DECIMAL.has(currency)) return
  if (!Number.isInteger(Number(amount)) || Number(amount) % 10 === 0) return
  throw invalidRequest(
    `Invalid amount: ${amount}. Amounts in ${currency} have three decimals, of which the last must be 0.`,
    param,
    'parameter_invalid_integer',
  )
}

function digitsOf(currency: string): number {
  if (ZERO_DECIMAL.has(currency)) return 0
  return THREE_DECIMAL.has(currency) ? 3 : 2
}

const SIGNS: Readonly<Record<string, string>> = { usd: '$', eur: '€', gbp: '£', jpy: '¥' }

/** `$10.00`, for descriptions. */
export function formatAmount(amount: number, currency: string): string {
  const digits = digitsOf(currency)
  const text = (Math.abs(amount) / 10 ** digits).toFixed(digits)
  const sign = SIGNS[currency]
  return `${amount < 0 ? '-' : ''}${sign ?? ''}${text}${sign ? '' : ` ${currency.toUpperCase()}`}`
}

/** `$0.50 usd`, for refusals: the least that Stripe charges. */
export function formatMinimum(currency: string): string {
  const text = formatAmount(minimumCharge(currency), currency)
  return SIGNS[currency] ? `${text} ${currency}` : text.toLowerCase()
}

/** `$0.005`: cents with decimals, as many as there are. */
export function formatDecimal(decimal: string, currency: string): string {
  if (/^-?\d+(?:\.0+)?$/.test(decimal)) return formatAmount(Number(decimal), currency)
  const [whole = '0', fraction = ''] = decimal.split('.')
  const digits = digitsOf(currency)
  const all = whole.padStart(digits + 1, '0')
  const places = `${all.slice(all.length - digits)}${fraction.replace(/0+$/, '')}`
  const text = `${all.slice(0, all.length - digits)}.${places}`
  const sign = SIGNS[currency]
  return `${sign ?? ''}${text}${sign ? '' : ` ${currency.toUpperCase()}`}`
}

export function requireCurrency(code: string, param = 'currency'): string {
  const currency = code.toLowerCase()
  if (!isCurrency(currency)) {
    throw invalidRequest(
      `Invalid currency: ${code}. Stripe currently supports these currencies: usd, aed, afn, …`,
      param,
    )
  }
  return currency
}

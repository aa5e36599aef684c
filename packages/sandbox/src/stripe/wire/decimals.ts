import { roundedQuotient } from '../../core/rounding.ts'

/** Decimal places of Stripe's decimals. Units are integers of the last place. */
const PLACES = 12
export const ONE = 10n ** BigInt(PLACES)

/** Converts a decimal to units: `1.5` → 1500000000000n. */
export function toUnits(decimal: string): bigint {
  const negative = decimal.startsWith('-')
  const [whole = '0', fraction = ''] = decimal.replace('-', '').split('.')
  const units = BigInt(whole || '0') * ONE + BigInt(fraction.padEnd(PLACES, '0').slice(0, PLACES))
  return negative ? -units : units
}

/** Converts units to a decimal: 1500000000000n → `1.5`. */
export function fromUnits(units: bigint): string {
  const size = units < 0n ? -units : units
  if (units % ONE === 0n) return String(units / ONE)
  const fraction = String(size % ONE)
    .padStart(PLACES, '0')
    .replace(/0+$/, '')
  return `${units < 0n ? '-' : ''}${size / ONE}.${fraction}`
}

/** Multiplies a quantity in units by a decimal amount, and rounds to minor units. */
export function multiplyUnits(quantity: bigint, decimal: string): number {
  return roundedQuotient(quantity * toUnits(decimal), ONE * ONE)
}

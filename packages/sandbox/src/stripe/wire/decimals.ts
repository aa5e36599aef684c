import { divideAndRound } from '../../core/rounding.ts'

/** Decimal places of Stripe's decimals. Units are integers of the last place. */
const PLACES = 12
export const UNITS_PER_ONE = 10n ** BigInt(PLACES)

/** Converts a decimal to a fixed-point number with 12 decimals: `1.5` → 1500000000000n. */
export function parseFixedPoint(decimal: string): bigint {
  const negative = decimal.startsWith('-')
  const [whole = '0', fraction = ''] = decimal.replace('-', '').split('.')
  const units =
    BigInt(whole || '0') * UNITS_PER_ONE + BigInt(fraction.padEnd(PLACES, '0').slice(0, PLACES))
  return negative ? -units : units
}

/** Converts a fixed-point number with 12 decimals to a decimal: 1500000000000n → `1.5`. */
export function formatFixedPoint(units: bigint): string {
  const size = units < 0n ? -units : units
  if (units % UNITS_PER_ONE === 0n) return String(units / UNITS_PER_ONE)
  const fraction = String(size % UNITS_PER_ONE)
    .padStart(PLACES, '0')
    .replace(/0+$/, '')
  return `${units < 0n ? '-' : ''}${size / UNITS_PER_ONE}.${fraction}`
}

/**
 * Multiplies a quantity (a fixed-point number with 12 decimals) by a decimal amount, and rounds to
 * minor units.
 */
export function multiplyFixedPoint(quantity: bigint, decimal: string): number {
  return divideAndRound(quantity * parseFixedPoint(decimal), UNITS_PER_ONE * UNITS_PER_ONE)
}

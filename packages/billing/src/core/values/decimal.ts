/** An exact decimal number with twelve places, as a multiple of 10⁻¹². */
export type Decimal = bigint

const PLACES = 12
/** The number 1 as a Decimal. */
export const DECIMAL_ONE: Decimal = 10n ** BigInt(PLACES)

/**
 * Parses a number or text without an exponent: `1.5` → 1500000000000n.
 * @throws RangeError for other text, or more than twelve places.
 */
export function parseDecimal(text: string | number): Decimal {
  const [, sign = '', whole = '0', fraction = ''] =
    /^(-?)(\d+)(?:\.(\d{1,12}))?$/.exec(String(text)) ?? fail(text)
  const size = BigInt(whole) * DECIMAL_ONE + BigInt(fraction.padEnd(PLACES, '0'))
  return sign === '-' ? -size : size
}

function fail(text: string | number): never {
  throw new RangeError(`${text} is not a decimal number with at most ${PLACES} places`)
}

/** Formats a decimal: 1500000000000n → `1.5`. */
export function formatDecimal(value: Decimal): string {
  const size = value < 0n ? -value : value
  const fraction = String(size % DECIMAL_ONE)
    .padStart(PLACES, '0')
    .replace(/0+$/, '')
  return `${value < 0n ? '-' : ''}${size / DECIMAL_ONE}${fraction === '' ? '' : `.${fraction}`}`
}

/** Multiplies to the nearest whole number, half away from zero. */
export function multiplyAndRound(a: Decimal, b: Decimal): number {
  const product = a * b
  const size = product < 0n ? -product : product
  const unit = DECIMAL_ONE * DECIMAL_ONE
  const rounded = Number((2n * size + unit) / (2n * unit))
  return product < 0n && rounded !== 0 ? -rounded : rounded
}

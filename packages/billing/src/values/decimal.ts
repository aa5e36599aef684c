/** A decimal number, exactly: counted in the last of its twelve places. */
export type Decimal = bigint

const PLACES = 12
/** 1, as such a number. */
export const ONE: Decimal = 10n ** BigInt(PLACES)

/** `1.5` → 1500000000000n. Of a plain number or a text without an exponent. */
export function decimal(text: string | number): Decimal {
  const [, sign = '', whole = '0', fraction = ''] =
    /^(-?)(\d+)(?:\.(\d{1,12}))?$/.exec(String(text)) ?? fail(text)
  const size = BigInt(whole) * ONE + BigInt(fraction.padEnd(PLACES, '0'))
  return sign === '-' ? -size : size
}

function fail(text: string | number): never {
  throw new RangeError(`${text} is not a decimal number with at most ${PLACES} places`)
}

/** 1500000000000n → `1.5` */
export function written(value: Decimal): string {
  const size = value < 0n ? -value : value
  const fraction = String(size % ONE)
    .padStart(PLACES, '0')
    .replace(/0+$/, '')
  return `${value < 0n ? '-' : ''}${size / ONE}${fraction === '' ? '' : `.${fraction}`}`
}

/** The product to the nearest whole number, half away from zero. */
export function multiplied(a: Decimal, b: Decimal): number {
  const product = a * b
  const size = product < 0n ? -product : product
  const unit = ONE * ONE
  const rounded = Number((2n * size + unit) / (2n * unit))
  return product < 0n && rounded !== 0 ? -rounded : rounded
}

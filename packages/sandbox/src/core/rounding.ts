/**
 * Computes `amount × numerator ÷ denominator` in exact integer arithmetic. Halves round away from
 * zero.
 */
export function multiplyFraction(amount: number, numerator: number, denominator: number): number {
  if (denominator === 0) return 0
  const product = BigInt(amount) * BigInt(numerator)
  return divideAndRound(product, BigInt(denominator))
}

export function divideAndRound(numerator: bigint, denominator: bigint): number {
  const negative = numerator < 0n !== denominator < 0n
  const n = numerator < 0n ? -numerator : numerator
  const d = denominator < 0n ? -denominator : denominator
  const rounded = (2n * n + d) / (2n * d)
  return Number(negative ? -rounded : rounded)
}

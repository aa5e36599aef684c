import { InvalidTaxPercentage } from '../errors.ts'
import { proportion } from './money.ts'

/** A tax in hundredths of a percent: 19 % is 1900. */
export type BasisPoints = number

/** 0 to 100 with at most two decimals, checked before any provider call. */
export function parseTaxPercentage(value: unknown): BasisPoints {
  const text = typeof value === 'number' ? String(value) : ''
  const match = /^(\d{1,3})(?:\.(\d{1,2}))?$/.exec(text)
  const points = match ? Number(`${match[1]}${(match[2] ?? '').padEnd(2, '0')}`) : Number.NaN
  if (points >= 0 && points <= 10_000) return points
  throw new InvalidTaxPercentage(
    `taxPercentage gave ${String(value)}; expected 0 to 100 with at most two decimals`,
  )
}

/** 1900 → `19`, 2550 → `25.5`. */
export function formatTaxPercentage(points: BasisPoints): string {
  return `${Math.floor(points / 100)}.${String(points % 100).padStart(2, '0')}`.replace(
    /\.?0+$/,
    '',
  )
}

/** The price that has this much with the tax on top: the inverse of `addTax`, exact to the unit. */
export function removeTax(amount: number, points: BasisPoints): number {
  return proportion(amount, 10_000, 10_000 + points)
}

/** The price with the tax on top. */
export function addTax(amount: number, points: BasisPoints): number {
  return amount + proportion(amount, points, 10_000)
}

/** What a subscription costs without its tax, and the tax, where the provider knows only the sum. */
export interface TaxTerms {
  /** What comes on top of the price. */
  readonly tax: BasisPoints
  /** In the currency's smallest unit. */
  readonly net: number
}

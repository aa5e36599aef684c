import { InvalidTaxPercentage } from '../errors/errors.ts'
import { calculateProportion } from './money.ts'

/** A tax rate in hundredths of a percent: 19 % is 1900. */
export type BasisPoints = number

/**
 * Parses a percentage from 0 to 100 with at most two decimals, before any request is sent.
 * @throws InvalidTaxPercentage for anything else.
 */
export function parseTaxPercentage(value: unknown): BasisPoints {
  const text = typeof value === 'number' ? String(value) : ''
  const match = /^(\d{1,3})(?:\.(\d{1,2}))?$/.exec(text)
  const points = match ? Number(`${match[1]}${(match[2] ?? '').padEnd(2, '0')}`) : Number.NaN
  if (points >= 0 && points <= 10_000) return points
  throw new InvalidTaxPercentage(
    `taxPercentage returned ${String(value)}; expected 0 to 100 with at most two decimals`,
  )
}

/** Formats a percentage: 1900 → `19`, 2550 → `25.5`. */
export function formatTaxPercentage(points: BasisPoints): string {
  return `${Math.floor(points / 100)}.${String(points % 100).padStart(2, '0')}`.replace(
    /\.?0+$/,
    '',
  )
}

/**
 * Returns the net price of a price that includes tax: the inverse of `addTax`, exact to the unit.
 */
export function removeTax(amount: number, points: BasisPoints): number {
  return calculateProportion(amount, 10_000, 10_000 + points)
}

/** Returns the price including tax. */
export function addTax(amount: number, points: BasisPoints): number {
  return amount + calculateProportion(amount, points, 10_000)
}

/** Net price and tax of a subscription, for providers that only store the sum. */
export interface TaxTerms {
  /** Tax rate on top of the net price. */
  readonly tax: BasisPoints
  /** Net price in the currency's smallest unit. */
  readonly net: number
}

/**
 * Looks up the tax, in hundredths of a percent, that was included in a subscription's charge at the
 * given time.
 */
export type TaxLookup = (subscriptionId: string, at: Date) => BasisPoints

import type { MeteredPrice } from '../../../index.ts'
import type { PriceTerms } from './support.ts'

/**
 * A hundred units are included, the next 900 units cost half a cent each, and further units a
 * quarter of a cent each.
 */
const TIERS = {
  stripe: [
    { up_to: 100, unit_amount: 0 },
    { up_to: 1000, unit_amount_decimal: '0.5' as never },
    { up_to: 'inf', unit_amount_decimal: '0.25' as never },
  ],
  braintree: [
    { upTo: 100, unitAmount: 0 },
    { upTo: 1000, unitAmount: '0.5' },
    { upTo: null, unitAmount: '0.25' },
  ],
} as const

/** Identical terms as a price at Stripe and as an option of Braintree. */
interface Terms {
  readonly stripe: PriceTerms
  readonly braintree: MeteredPrice
}

export const createTieredTerms = (mode: 'graduated' | 'volume'): Terms => ({
  stripe: { billing_scheme: 'tiered', tiers_mode: mode, tiers: [...TIERS.stripe] },
  braintree: { mode, tiers: TIERS.braintree },
})

const each = (cents: number): Terms => ({
  stripe: { unit_amount: cents },
  braintree: { unitAmount: cents },
})

/** Test cases: quantities of usage under various price terms, with the expected cost in cents. */
export const PRICING_CASES: readonly (Terms & {
  readonly what: string
  readonly used: readonly (number | string)[]
  readonly cents: number
})[] = [
  { what: 'usage by unit', ...each(5), used: [3, 4], cents: 35 },
  {
    what: 'usage below a cent',
    stripe: { unit_amount_decimal: '0.125' as never },
    braintree: { unitAmount: '0.125' },
    used: [1000, 1],
    cents: 125,
  },
  { what: 'usage with decimals', ...each(150), used: ['2.25', '0.25'], cents: 375 },
  { what: 'corrected usage', ...each(10), used: [12, -2], cents: 100 },
  { what: 'no usage', ...each(10), used: [], cents: 0 },
  {
    what: 'usage within an included tier',
    ...createTieredTerms('graduated'),
    used: [60, 40],
    cents: 0,
  },
  {
    what: 'usage in graduated tiers',
    ...createTieredTerms('graduated'),
    used: [600, 500],
    cents: 450 + 25,
  },
  { what: 'usage by volume', ...createTieredTerms('volume'), used: [600, 401], cents: 250 },
  {
    what: 'usage in packages',
    stripe: { unit_amount: 1000, transform_quantity: { divide_by: 60, round: 'up' } },
    braintree: { unitAmount: 1000, packageSize: 60 },
    used: [100, 50],
    cents: 3000,
  },
]

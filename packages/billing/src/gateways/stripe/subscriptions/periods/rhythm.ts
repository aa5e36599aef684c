import type Stripe from 'stripe'

/** How often a price is billed. */
export type Rhythm = Stripe.Price.Recurring | null | undefined

/** What has no rhythm goes with any. */
export function isSameRhythm(a: Rhythm, b: Rhythm): boolean {
  return !a || !b || (a.interval === b.interval && a.interval_count === b.interval_count)
}

export function haveOneRhythm(prices: readonly Pick<Stripe.Price, 'recurring'>[]): boolean {
  return prices.every(({ recurring }) => isSameRhythm(prices[0]?.recurring, recurring))
}

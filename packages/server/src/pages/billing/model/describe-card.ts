import type { BillableUser } from '@tollgate/billing'

/** `Visa ending in 4242`, a PayPal account, or null when there is nothing to charge. */
export function describeCard({
  cardBrand,
  cardLastFour,
  paypalEmail,
}: Pick<BillableUser, 'cardBrand' | 'cardLastFour' | 'paypalEmail'>): string | null {
  if (cardLastFour !== null) return `${brandName(cardBrand)} ending in ${cardLastFour}`
  return paypalEmail === null ? null : `PayPal (${paypalEmail})`
}

/** Stripe says `visa`, Braintree `Visa`. */
function brandName(brand: string | null): string {
  if (!brand) return 'A card'
  return brand.slice(0, 1).toUpperCase() + brand.slice(1)
}

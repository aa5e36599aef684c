import type { BillableUser, CardExpiry, PaymentMethod } from '@tollgate/billing'

/** `Visa ending in 4242`, a PayPal account, or null when there is nothing to charge. From our own row. */
export function describeCard({
  cardBrand,
  cardLastFour,
  paypalEmail,
}: Pick<BillableUser, 'cardBrand' | 'cardLastFour' | 'paypalEmail'>): string | null {
  if (cardLastFour !== null) return `${brandName(cardBrand)} ending in ${cardLastFour}`
  if (paypalEmail !== null) return `PayPal (${paypalEmail})`
  return cardBrand === null ? null : brandName(cardBrand)
}

/** The same, of any method. The dots of its label are nothing to be read aloud. */
export function describeMethod(method: PaymentMethod): string {
  return method.label('en').replace(' •••• ', ' ending in ')
}

/** `04/2027`, as on the card. */
export function describeExpiry({ month, year }: CardExpiry): string {
  return `${String(month).padStart(2, '0')}/${year}`
}

/** Stripe says `visa` and `mastercard`, Braintree `Visa` and `MasterCard`; an account at a bank says what debits it. */
function brandName(brand: string | null): string {
  if (!brand) return 'A card'
  if (brand.toLowerCase() === 'mastercard') return 'Mastercard'
  if (/_(debit|bank_account)$/.test(brand)) return 'Bank debit'
  const words = brand.replaceAll('_', ' ')
  return words.slice(0, 1).toUpperCase() + words.slice(1)
}

import type { BillableUser, CardExpiry, PaymentMethod } from '@tollgate/billing'
import { ENGLISH, type PageText } from '../../../messages/messages.ts'

/**
 * Describes the default payment method, such as `Visa ending in 4242` or a PayPal account, from the
 * user's row. `null` if there is none.
 */
export function describeCard(
  {
    cardBrand,
    cardLastFour,
    paypalEmail,
  }: Pick<BillableUser, 'cardBrand' | 'cardLastFour' | 'paypalEmail'>,
  t: PageText = ENGLISH,
): string | null {
  const brand = brandName(cardBrand, t)
  if (cardLastFour !== null) return t('card.ending', { brand, digits: cardLastFour })
  if (paypalEmail !== null) return t('card.paypal', { email: paypalEmail })
  return cardBrand === null ? null : brand
}

/**
 * Describes a payment method, such as `Visa ending in 4242`, without the dots of its label, which
 * screen readers would read aloud.
 */
export function describeMethod(method: PaymentMethod, t: PageText): string {
  const [brand = '', digits] = method.label(t.language).split(' •••• ')
  return digits === undefined ? brand : t('card.ending', { brand, digits })
}

/** Formats the expiry as on the card: `04/2027`. */
export function describeExpiry({ month, year }: CardExpiry): string {
  return `${String(month).padStart(2, '0')}/${year}`
}

/**
 * Stripe writes `visa` and `mastercard`, Braintree `Visa` and `MasterCard`. Bank debits get a
 * common name.
 */
function brandName(brand: string | null, t: PageText): string {
  if (!brand) return t('card.unknown')
  if (brand.toLowerCase() === 'mastercard') return 'Mastercard'
  if (/_(debit|bank_account)$/.test(brand)) return t('card.debit')
  const words = brand.replaceAll('_', ' ')
  return words.slice(0, 1).toUpperCase() + words.slice(1)
}

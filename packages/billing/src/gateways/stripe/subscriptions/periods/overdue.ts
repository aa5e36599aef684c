import type Stripe from 'stripe'
import { PaymentOverdue } from '../../../../errors.ts'
import type { WantedItem } from '../../../contract/item.ts'

const OWING: readonly string[] = ['past_due', 'unpaid']

/**
 * Stripe gives back what is unused of a price, whether or not anybody has paid for it: the customer would have credit, and
 * the bill stay open. So whoever owes pays first; what is only added gives nothing back.
 */
export function requireNothingOwed(
  { status, items }: Stripe.Subscription,
  { wanted, prorate }: { readonly wanted: readonly WantedItem[]; readonly prorate: boolean },
): void {
  if (!prorate || !OWING.includes(status)) return
  const isKept = ({ price, quantity = 1 }: Stripe.SubscriptionItem) =>
    wanted.some((item) => item.price === price.id && (item.quantity ?? quantity) >= quantity)
  if (items.data.every(isKept)) return
  throw new PaymentOverdue(
    `Its last bill is not paid (${status}), and this would give back what nobody has paid: payNow() first, or noProrate()`,
  )
}

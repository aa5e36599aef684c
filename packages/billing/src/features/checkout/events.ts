import type { CheckoutEventData, NewBillingEvent } from '../../core/events/billing-event.ts'
import { toSubscriptionEventData } from '../../core/events/subscription-events.ts'
import type { SubscriptionRecord } from '../../core/storage/tables.ts'
import type { EventOrigin } from '../invoices/events.ts'
import type { CheckoutPaymentStatus, ProviderCheckout } from './contract.ts'

/** Subscriptions in our database that are affected by a completed checkout page. */
export interface CheckoutOutcome {
  readonly made: SubscriptionRecord | null
  /**
   * Other active subscriptions of the same owner and name, for which the customer now pays twice.
   */
  readonly others: readonly SubscriptionRecord[]
}

/** Returns the events of a completed checkout page. */
export function createCheckoutEvents(
  { owner, provider }: EventOrigin,
  completedCheckout: ProviderCheckout,
  { made, others }: CheckoutOutcome,
): NewBillingEvent[] {
  const about = `${provider}:${completedCheckout.id}`
  const base = { owner, provider }
  const checkout = toCheckoutEventData(completedCheckout)
  const subscription = made && toSubscriptionEventData(made)
  return [
    { ...base, type: 'checkout.completed', subject: about, data: { checkout, subscription } },
    ...createCheckoutPaymentEvents(base, completedCheckout),
    ...others.flatMap((other): NewBillingEvent[] =>
      subscription
        ? [
            {
              ...base,
              type: 'checkout.duplicate',
              subject: `${about}:${other.providerId}`,
              data: { checkout, subscription, other: toSubscriptionEventData(other) },
            },
          ]
        : [],
    ),
  ]
}

/**
 * Returns the events of a single payment on a checkout page, and none while the payment is pending.
 * Payments of subscriptions are reported by invoice events instead.
 */
export function createCheckoutPaymentEvents(
  { owner, provider }: EventOrigin,
  found: ProviderCheckout,
): NewBillingEvent[] {
  const status = found.mode === 'payment' ? readCheckoutPaymentStatus(found) : 'none'
  if (status === 'none' || status === 'pending') return []
  const type = status === 'paid' ? 'checkout.paid' : 'checkout.payment_failed'
  const data = { checkout: toCheckoutEventData(found) }
  return [{ type, owner, provider, subject: `${provider}:${found.id}`, data }]
}

export function readCheckoutPaymentStatus({
  isPaid,
  paymentStatus,
}: ProviderCheckout): CheckoutPaymentStatus {
  return paymentStatus ?? (isPaid ? 'paid' : 'pending')
}

function toCheckoutEventData(found: ProviderCheckout): CheckoutEventData {
  const { id, mode, isPaid, paymentId = null, invoiceId = null } = found
  return { id, mode, isPaid, payment: paymentId, invoice: invoiceId }
}

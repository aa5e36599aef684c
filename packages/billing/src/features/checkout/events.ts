import type { CheckoutFacts, NewBillingEvent } from '../../core/events/billing-event.ts'
import { subscriptionFacts } from '../../core/events/subscription-events.ts'
import type { SubscriptionRecord } from '../../core/storage/tables.ts'
import type { About } from '../invoices/events.ts'
import type { CheckoutPaymentStatus, ProviderCheckout } from './contract.ts'

/** Rows affected by a completed page. */
export interface CheckoutOutcome {
  readonly made: SubscriptionRecord | null
  /** Other active subscriptions of the same name: the customer pays twice. */
  readonly others: readonly SubscriptionRecord[]
}

/** Returns the events of a completed page. */
export function eventsOfCheckout(
  { owner, provider }: About,
  found: ProviderCheckout,
  { made, others }: CheckoutOutcome,
): NewBillingEvent[] {
  const about = `${provider}:${found.id}`
  const base = { owner, provider }
  const checkout = factsOfCheckout(found)
  const subscription = made && subscriptionFacts(made)
  return [
    { ...base, type: 'checkout.completed', subject: about, data: { checkout, subscription } },
    ...eventsOfPayment(base, found),
    ...others.flatMap((other): NewBillingEvent[] =>
      subscription
        ? [
            {
              ...base,
              type: 'checkout.duplicate',
              subject: `${about}:${other.providerId}`,
              data: { checkout, subscription, other: subscriptionFacts(other) },
            },
          ]
        : [],
    ),
  ]
}

/**
 * Returns the events of a single payment; none while it is pending. Subscriptions emit invoice
 * events instead.
 */
export function eventsOfPayment(
  { owner, provider }: About,
  found: ProviderCheckout,
): NewBillingEvent[] {
  const status = found.mode === 'payment' ? paymentStatusOf(found) : 'none'
  if (status === 'none' || status === 'pending') return []
  const type = status === 'paid' ? 'checkout.paid' : 'checkout.payment_failed'
  const data = { checkout: factsOfCheckout(found) }
  return [{ type, owner, provider, subject: `${provider}:${found.id}`, data }]
}

export function paymentStatusOf({
  isPaid,
  paymentStatus,
}: ProviderCheckout): CheckoutPaymentStatus {
  return paymentStatus ?? (isPaid ? 'paid' : 'pending')
}

function factsOfCheckout(found: ProviderCheckout): CheckoutFacts {
  const { id, mode, isPaid, paymentId = null, invoiceId = null } = found
  return { id, mode, isPaid, payment: paymentId, invoice: invoiceId }
}

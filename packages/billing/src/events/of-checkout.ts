import type {
  CheckoutPaymentStatus,
  ProviderCheckout,
} from '../gateways/contract/parts/pages/checkout.ts'
import type { SubscriptionRecord } from '../storage/tables.ts'
import type { CheckoutFacts, NewBillingEvent } from './billing-event.ts'
import type { About } from './of-invoice.ts'
import { factsOf } from './of-subscription.ts'

/** What came of it in our rows. */
export interface CheckoutOutcome {
  readonly made: SubscriptionRecord | null
  /** Others of the same name that are open: the customer pays for one thing twice. */
  readonly others: readonly SubscriptionRecord[]
}

/** What there is to tell when a hosted page was completed. */
export function eventsOfCheckout(
  { owner, provider }: About,
  found: ProviderCheckout,
  { made, others }: CheckoutOutcome,
): NewBillingEvent[] {
  const about = `${provider}:${found.id}`
  const base = { owner, provider }
  const checkout = factsOfCheckout(found)
  const subscription = made && factsOf(made)
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
              data: { checkout, subscription, other: factsOf(other) },
            },
          ]
        : [],
    ),
  ]
}

/** What there is to tell of what is paid once; nothing while it is not decided. A subscription has invoices for that. */
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

import type { ProviderCheckout } from '../gateways/contract/parts/pages/checkout.ts'
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

function factsOfCheckout(found: ProviderCheckout): CheckoutFacts {
  const { id, mode, isPaid, paymentId = null, invoiceId = null } = found
  return { id, mode, isPaid, payment: paymentId, invoice: invoiceId }
}

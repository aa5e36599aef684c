import type { PaymentIntentRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'

/** Cancels a payment intent whose authorized amount was not captured in time. */
export function expireAuthorization(work: UnitOfWork, id: string): void {
  const intent = work.edit('payment_intent', work.require('payment_intent', id))
  cancelPaymentIntent(work, intent, 'expired')
  work.emit('charge.expired', 'charge', work.require('charge', String(intent.latest_charge)))
}

/** Cancels a payment intent and releases the authorized amount, if it was not captured. */
export function cancelPaymentIntent(
  work: UnitOfWork,
  intent: PaymentIntentRow,
  reason: PaymentIntentRow['cancellation_reason'],
): void {
  intent.status = 'canceled'
  intent.canceled_at = work.sandboxNow
  intent.cancellation_reason = reason
  intent.next_action = null
  intent.amount_capturable = 0
  work.emit('payment_intent.canceled', 'payment_intent', intent)
}

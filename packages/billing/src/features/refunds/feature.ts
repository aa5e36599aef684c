import { defineCapability } from '../define-feature.ts'
import { readCreditedAmount } from '../proration/braintree-credited.ts'
import { createBraintreeRefunds } from './braintree.ts'
import type { Refund, RefundOptions } from './refund.ts'
import { createStripeRefunds } from './stripe.ts'
import { refundCharge, toChargeId } from './user.ts'

declare module '../../billable-user.ts' {
  interface BillableUser<User> {
    /**
     * Refunds a charge: all that is left of it, or `amount`. The charge is given by its id, the
     * result of `charge()`, an invoice, or a hosted page. Braintree voids an unsettled charge as a
     * whole (status `voided`). Without an idempotency key, each call with an `amount` refunds
     * again.
     * @throws {RefundNotPossibleYet} for a part of a charge that Braintree has not settled yet.
     * @throws {RefundRefused} if the provider rejects the refund, for example of a disputed charge.
     * @throws {AmountTooLarge} if less than `amount` is left of the charge.
     * @throws {ChargeNotFound} if this customer has no such charge.
     * @example
     * ```ts
     * await user.refund(payment.id, { amount: money(500, 'eur'), idempotencyKey: `refund-${request.id}` })
     * ```
     */
    refund(charge: string | { readonly id: string }, options?: RefundOptions): Promise<Refund>
  }
}

declare module '../../core/storage/tables.ts' {
  interface OperationKinds {
    refund: true
  }
}

/** Refunding charges and invoices. */
export const refundsCapability = defineCapability('refunds', {
  user: {
    refund: (user, charge, options = {}) => refundCharge(user, toChargeId(charge), options),
  },
  invoice: ['refund', 'refunded'],
  operations: { refund: null },
  stripe: createStripeRefunds,
  braintree: (context) =>
    createBraintreeRefunds(context, (sale) => readCreditedAmount(context, sale)),
})

import { defineCapability } from '../define-feature.ts'
import { toChargeId } from '../refunds/user.ts'
import { createBraintreeCaptures } from './braintree.ts'
import type { CardAuthorization } from './contract.ts'
import { createStripeCaptures } from './stripe.ts'
import {
  type CaptureOptions,
  captureAuthorization,
  findAuthorization,
  releaseAuthorizedAmount,
  resumeCapture,
} from './user.ts'

declare module '../../billable-user.ts' {
  interface BillableUser<User> {
    /**
     * Captures a charge made with `captureLater`: all of it, or a part, which releases the rest. An
     * authorization is captured once. A repeat with the same amount returns the first result.
     * @throws AuthorizationNotOpen if it has expired, was released, was captured with another
     * amount, or waits for the customer.
     * @throws ChargeNotFound if there is no such authorization, or it belongs to another customer.
     * @throws AmountTooLarge if the amount is above the authorized one.
     * @throws InvalidAmount if the amount is in another currency, or not above zero.
     * @example
     * const payment = await user.charge(money(5000, 'eur'), { captureLater: true, idempotencyKey: `order-${order.id}` })
     * await user.capture(payment, { amount: money(4200, 'eur') })
     */
    capture(
      charge: string | { readonly id: string },
      options?: CaptureOptions,
    ): Promise<CardAuthorization>

    /**
     * Releases the money of a charge made with `captureLater` that was not captured. Does nothing
     * if it was released before, or has expired.
     * @throws AuthorizationNotOpen if it was captured: use `refund()`.
     * @throws ChargeNotFound if there is no such authorization, or it belongs to another customer.
     * @example
     * await user.releaseAuthorization(payment)
     */
    releaseAuthorization(charge: string | { readonly id: string }): Promise<CardAuthorization>

    /**
     * Reads a charge made with `captureLater`: its state, when it expires, and the captured amount.
     * `null` if there is none, or it belongs to another customer.
     * @example
     * const authorization = await user.findAuthorization(payment)
     */
    findAuthorization(charge: string | { readonly id: string }): Promise<CardAuthorization | null>
  }
}

declare module '../../core/storage/tables.ts' {
  interface OperationKinds {
    capture: true
  }
}

/** Payments that are authorized now and captured later. */
export const paymentCapturesCapability = defineCapability('captures', {
  user: {
    capture: (user, charge, options = {}) =>
      captureAuthorization(user, toChargeId(charge), options),
    releaseAuthorization: (user, charge) => releaseAuthorizedAmount(user, toChargeId(charge)),
    findAuthorization: (user, charge) => findAuthorization(user, toChargeId(charge)),
  },
  operations: { capture: resumeCapture },
  stripe: createStripeCaptures,
  braintree: createBraintreeCaptures,
})

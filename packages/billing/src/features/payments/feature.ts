import type { PendingConfirmation } from '../../core/values/confirmation.ts'
import type { Amount, Money } from '../../core/values/money.ts'
import { defineCapability, defineFeature } from '../define-feature.ts'
import { createBraintreePayments } from './braintree.ts'
import { createBraintreeCharges } from './braintree-charges.ts'
import type { ChargeOptions } from './charge-contract.ts'
import type { ProviderPayment } from './contract.ts'
import { createStripePayments } from './stripe.ts'
import { createStripeCharges } from './stripe-charges.ts'
import {
  findAmountOwed,
  findLatestPayment,
  findPendingConfirmation,
  payNow,
  requireLatestPaymentPaid,
} from './subscription.ts'
import { chargeUser, listConfirmations } from './user.ts'

declare module '../../billable-user.ts' {
  interface BillableUser<User> {
    /**
     * Charges the default payment method once, without an invoice. Returns the provider's object, a
     * `Stripe.PaymentIntent` or a `braintree.Transaction`. Its type is `unknown` if the option
     * `providers` is set. A plain number is an amount in the provider's own unit; `money(1999,
     * 'eur')` works with both.
     * @throws PaymentFailed if the payment is declined.
     * @throws PaymentActionRequired if the customer has to authenticate.
     * @throws InvalidAmount before any request, if the amount cannot be charged.
     * @example
     * await user.charge(money(1999, 'eur'), { idempotencyKey: `order-${order.id}` })
     */
    charge(amount: Amount, options?: ChargeOptions): Promise<unknown>

    /** Lists everything that the customer has to confirm now: payments, and cards of trials. */
    pendingConfirmations(): Promise<PendingConfirmation[]>
  }
}

declare module '../../subscription.ts' {
  interface Subscription {
    /**
     * Immediately tries to pay the amount that is owed, with the default payment method, instead of
     * waiting for the provider's next attempt. Does nothing if nothing is owed.
     * @throws PaymentFailed if the payment is declined.
     * @throws PaymentActionRequired if the customer has to authenticate.
     * @throws SubscriptionEnded at Stripe, if the subscription has ended: use `invoice.pay()`.
     * @example
     * await (await user.subscription('main')).payNow()
     */
    payNow(): Promise<Subscription>

    /**
     * Reads the payment or card that the customer has to confirm (3-D Secure), for the provider's
     * script in the browser: an open payment, or the card of a trial, which needs no confirmation
     * until the first charge. `null` if nothing has to be confirmed.
     */
    pendingConfirmation(): Promise<PendingConfirmation | null>

    /**
     * Requires that the newest payment of the subscription was made.
     * @throws PaymentActionRequired if the customer has to confirm the payment.
     * @throws PaymentFailed if the payment was declined.
     */
    requirePaid(): Promise<void>

    /**
     * Reads how much is owed now because payments failed. Zero if nothing is owed, `null` if the
     * provider no longer has the subscription. After the subscription has ended, pay the amount
     * with `invoice.pay()`.
     */
    amountOwed(): Promise<Money | null>

    /**
     * Reads the newest payment of the subscription from the provider: its status, its amount, and
     * the confirmation that the customer still has to make. `null` if the subscription was never
     * charged.
     */
    latestPayment(): Promise<ProviderPayment | null>
  }
}

/** Single charges, and paying what is owed. */
export const chargesFeature = defineFeature({
  user: {
    charge: (user, amount, options = {}) => chargeUser(user, amount, options),
    pendingConfirmations: listConfirmations,
  },
  subscription: {
    pendingConfirmation: findPendingConfirmation,
    requirePaid: requireLatestPaymentPaid,
    amountOwed: findAmountOwed,
  },
  changes: {
    payNow,
  },
  stripe: createStripeCharges,
  braintree: createBraintreeCharges,
})

/** Reading the newest payment of a subscription, successful or not. */
export const paymentsCapability = defineCapability('payments', {
  subscription: {
    latestPayment: findLatestPayment,
  },
  stripe: createStripePayments,
  braintree: createBraintreePayments,
})

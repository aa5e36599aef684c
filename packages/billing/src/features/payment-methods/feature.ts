import type { PaymentMethodKind } from '../../providers/payment-method.ts'
import { defineCapability } from '../define-feature.ts'
import { createBraintreePaymentMethods } from './braintree.ts'
import type { PaymentMethod } from './payment-method.ts'
import { createStripePaymentMethods } from './stripe.ts'
import {
  type AddPaymentMethodOptions,
  addUserPaymentMethod,
  deleteUserPaymentMethod,
  deleteUserPaymentMethods,
  findDefaultPaymentMethod,
  findUserPaymentMethod,
  hasUserPaymentMethod,
  listPaymentMethods,
  setDefaultPaymentMethod,
} from './user.ts'

declare module '../../billable-user.ts' {
  interface BillableUser<User> {
    /**
     * Lists the customer's payment methods, newest first: all of them, or those of one kind.
     * @example
     * const methods = await user.paymentMethods()
     * const labels = methods.map((method) => method.label('en'))
     */
    paymentMethods(kind?: PaymentMethodKind): Promise<PaymentMethod[]>

    /** Returns the default payment method, which is charged. `null` if there is none. */
    defaultPaymentMethod(): Promise<PaymentMethod | null>

    /**
     * Finds one of the customer's own payment methods. `null` if there is none, or it belongs to
     * another customer.
     */
    findPaymentMethod(id: string): Promise<PaymentMethod | null>

    /** Whether the customer has a payment method, or one of the given kind. */
    hasPaymentMethod(kind?: PaymentMethodKind): Promise<boolean>

    /**
     * Stores the payment method of a token from the provider's form. The first payment method
     * becomes the default, a later one only with `makeDefault`. Creates the customer if there is
     * none. A repeat with the same token stores it once.
     * @throws InvalidPaymentToken for an unknown token, or one that another customer has used.
     * @throws PaymentFailed if the card is declined.
     * @example
     * const card = await user.addPaymentMethod(token, { makeDefault: true })
     */
    addPaymentMethod(token: string, options?: AddPaymentMethodOptions): Promise<PaymentMethod>

    /**
     * Makes a stored payment method the default, also for running subscriptions. Pass new tokens to
     * `addPaymentMethod()` instead.
     * @throws PaymentMethodNotFound if the customer has no such payment method.
     */
    updateDefaultPaymentMethod(id: string): Promise<void>

    /**
     * Deletes a payment method. Does nothing if it is gone, or belongs to another customer.
     * @throws PaymentMethodInUse while a subscription that has not ended is billed to it.
     */
    deletePaymentMethod(id: string): Promise<void>

    /**
     * Deletes all payment methods, or all of one kind.
     * @throws PaymentMethodInUse before anything is deleted, if a subscription is billed to one of
     * them.
     */
    deletePaymentMethods(kind?: PaymentMethodKind): Promise<void>
  }
}

/** Several stored payment methods per customer. */
export const paymentMethodsCapability = defineCapability('paymentMethods', {
  user: {
    paymentMethods: listPaymentMethods,
    defaultPaymentMethod: findDefaultPaymentMethod,
    findPaymentMethod: findUserPaymentMethod,
    hasPaymentMethod: hasUserPaymentMethod,
    addPaymentMethod: (user, token, options = {}) => addUserPaymentMethod(user, token, options),
    updateDefaultPaymentMethod: setDefaultPaymentMethod,
    deletePaymentMethod: deleteUserPaymentMethod,
    deletePaymentMethods: deleteUserPaymentMethods,
  },
  stripe: createStripePaymentMethods,
  braintree: createBraintreePaymentMethods,
})

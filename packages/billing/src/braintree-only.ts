import type { Billing } from './billing.ts'
import type { SubscriptionBuilder } from './subscriptions/builder.ts'
import type { Subscription } from './subscriptions/subscription.ts'
import type { BillableUser } from './users/billable-user.ts'

/** Quantities are Stripe's alone. */
type QuantityMethods = 'incrementQuantity' | 'decrementQuantity' | 'updateQuantity'

/**
 * An object as it is where Braintree alone is configured: what Braintree cannot do is missing from it,
 * and from what its methods give. With both providers it is there, and throws Unsupported for users
 * who pay through Braintree.
 */
type BraintreeOnly<T> =
  T extends Billing<infer User>
    ? Without<Billing<User>, never>
    : T extends BillableUser<infer User>
      ? Without<BillableUser<User>, never>
      : T extends Subscription
        ? Without<Subscription, QuantityMethods>
        : T extends SubscriptionBuilder
          ? Without<SubscriptionBuilder, 'quantity'>
          : T extends Promise<infer Result>
            ? Promise<BraintreeOnly<Result>>
            : T extends readonly (infer Item)[]
              ? BraintreeOnly<Item>[]
              : T

type Without<T, Missing> = {
  [Name in keyof T as Exclude<Name, Missing>]: T[Name] extends (...args: infer Args) => infer Result
    ? (...args: Args) => BraintreeOnly<Result>
    : T[Name]
}

export type BraintreeBilling<User = Record<string, unknown>> = BraintreeOnly<Billing<User>>
export type BraintreeUser<User = Record<string, unknown>> = BraintreeOnly<BillableUser<User>>
export type BraintreeSubscription = BraintreeOnly<Subscription>

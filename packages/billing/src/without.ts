import type { Billing } from './billing.ts'
import type { SubscriptionBuilder } from './subscriptions/builder.ts'
import type { Subscription } from './subscriptions/subscription.ts'
import type { BillableUser } from './users/billable-user.ts'

/** Methods that need a part which not every gateway has. */
export interface OptionalMethods {
  /** Of Stripe; Braintree has none. */
  readonly quantities: {
    readonly subscription: 'incrementQuantity' | 'decrementQuantity' | 'updateQuantity'
    readonly builder: 'quantity'
  }
}

/**
 * An object as it is where no provider that is configured has a capability: its methods are missing from
 * it, and from what the others give. Where one has it, they are there, and throw Unsupported for users of
 * the others.
 */
export type Without<Missing extends keyof OptionalMethods, T> =
  T extends Promise<infer Result>
    ? Promise<Without<Missing, Result>>
    : T extends readonly (infer Item)[]
      ? Without<Missing, Item>[]
      : T extends Billing<infer _> | BillableUser<infer _> | Subscription | SubscriptionBuilder
        ? {
            [Name in Exclude<
              keyof T,
              T extends Subscription
                ? OptionalMethods[Missing]['subscription']
                : T extends SubscriptionBuilder
                  ? OptionalMethods[Missing]['builder']
                  : never
            >]: T[Name] extends (...args: infer Args) => infer Result
              ? (...args: Args) => Without<Missing, Result>
              : T[Name]
          }
        : T

import type { Billing } from './billing.ts'
import type { SubscriptionBuilder } from './subscriptions/builder.ts'
import type { Subscription } from './subscriptions/subscription.ts'
import type { BillableUser } from './users/billable-user.ts'

/** Public methods that need a part which not every gateway has. */
interface Methods {
  readonly quantities: {
    readonly subscription: 'incrementQuantity' | 'decrementQuantity' | 'updateQuantity'
    readonly builder: 'quantity'
  }
}

/** A capability whose methods can be missing. */
export type OptionalCapability = keyof Methods

/**
 * An object as it is where no provider that is configured has a capability: its methods are missing from
 * it, and from what the others give. Where one has it, they are there, and throw Unsupported for users of
 * the others.
 */
export type Without<Missing extends OptionalCapability, T> =
  T extends Billing<infer User>
    ? Reduced<Missing, Billing<User>, never>
    : T extends BillableUser<infer User>
      ? Reduced<Missing, BillableUser<User>, never>
      : T extends Subscription
        ? Reduced<Missing, Subscription, Methods[Missing]['subscription']>
        : T extends SubscriptionBuilder
          ? Reduced<Missing, SubscriptionBuilder, Methods[Missing]['builder']>
          : T extends Promise<infer Result>
            ? Promise<Without<Missing, Result>>
            : T extends readonly (infer Item)[]
              ? Without<Missing, Item>[]
              : T

type Reduced<Missing extends OptionalCapability, T, Names> = {
  [Name in keyof T as Exclude<Name, Names>]: T[Name] extends (...args: infer Args) => infer Result
    ? (...args: Args) => Without<Missing, Result>
    : T[Name]
}

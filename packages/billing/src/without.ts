import type { BillableUser } from './billable-user.ts'
import type { Billing } from './billing.ts'
import type * as FEATURES from './features/all.ts'
import type { Invoice } from './features/invoices/invoice.ts'
import type { SubscriptionBuilder } from './features/subscribe/builder.ts'
import type { SubscriptionPage } from './features/subscription-list/list-subscriptions.ts'
import type { SwapOptions } from './features/swap/subscription.ts'
import type { CustomerDetails } from './providers/customer.ts'
import type { Capability } from './providers/gateway-parts.ts'
import type { Subscription } from './subscription.ts'

/** The capabilities that the features implement for a provider, by the provider's name. */
export type CapabilitiesOf<Provider extends string> = {
  [Name in keyof typeof FEATURES]: (typeof FEATURES)[Name] extends {
    readonly capability: infer Found
  } & { readonly [Key in Provider]: unknown }
    ? Found
    : never
}[keyof typeof FEATURES]

/**
 * Maps each method to the capability that it needs, for the methods that features declare under
 * these keys.
 */
export type CapabilityByMethod<
  Key extends 'user' | 'subscription' | 'changes' | 'subscriptionNeeds' | 'builder' | 'invoice',
> = {
  readonly [Name in keyof typeof FEATURES as (typeof FEATURES)[Name] extends {
    readonly capability: string
  } & { readonly [K in Key]: infer Methods }
    ? Methods extends readonly (infer Method extends string)[]
      ? Method
      : keyof Methods
    : never]: (typeof FEATURES)[Name] extends { readonly capability: infer Needed } ? Needed : never
}

/** The methods that not every provider supports, each with the capability that it needs. */
export interface OptionalMethods {
  /** Methods of a user. */
  readonly user: CapabilityByMethod<'user'>
  /** Methods of a subscription. */
  readonly subscription: CapabilityByMethod<'subscription'> &
    CapabilityByMethod<'changes'> &
    CapabilityByMethod<'subscriptionNeeds'>
  /** Methods of the builder of a new subscription. */
  readonly builder: CapabilityByMethod<'builder'>
  /** Methods of an invoice. */
  readonly invoice: CapabilityByMethod<'invoice'>
}

/** Names of the methods of the type `Of` that need one of the capabilities `Part`. */
export type MethodsNeeding<Part extends Capability, Of extends keyof OptionalMethods> = {
  [Name in keyof OptionalMethods[Of]]: OptionalMethods[Of][Name] extends Part ? Name : never
}[keyof OptionalMethods[Of]]

/** Names of the methods of `T` that need one of the missing capabilities. */
export type UnsupportedMethods<Missing extends Capability, T> = T extends Subscription
  ? MethodsNeeding<Missing, 'subscription'>
  : T extends SubscriptionBuilder
    ? MethodsNeeding<Missing, 'builder'>
    : T extends BillableUser<infer _>
      ? MethodsNeeding<Missing, 'user'> | ('languages' extends Missing ? 'updateCustomer' : never)
      : T extends Invoice
        ? MethodsNeeding<Missing, 'invoice'>
        : never

/**
 * The quantity methods of a subscription at a provider where only add-ons have quantities and plans
 * do not. The argument `price` is therefore required.
 */
export interface ItemQuantities<Changed> {
  /** Adds units to a price of the subscription. */
  incrementQuantity(count: number, price: string): Promise<Changed>
  /** Removes units from a price of the subscription. The quantity never falls below 1. */
  decrementQuantity(count: number, price: string): Promise<Changed>
  /** Sets the number of units of a price of the subscription. */
  updateQuantity(quantity: number, price: string, options?: SwapOptions): Promise<Changed>
  /** Adds units to a price of the subscription and charges for them immediately. */
  incrementAndInvoice(count: number, price: string): Promise<Changed>
  /**
   * Sets the number of units of a price of the subscription and charges for the change immediately.
   */
  updateQuantityAndInvoice(quantity: number, price: string, options?: SwapOptions): Promise<Changed>
}

/** The quantity methods that remain if these capabilities are missing. */
export type RemainingQuantityMethods<Missing extends Capability, T> = T extends Subscription
  ? 'quantities' extends Missing
    ? 'items' extends Missing
      ? unknown
      : ItemQuantities<Without<Missing, Subscription>>
    : unknown
  : unknown

/**
 * The method `updateCustomer()` of a user whose provider does not store the language of customers.
 */
export interface CustomerUpdateWithoutLanguage {
  /** Updates the customer at the provider. Fields that are left out keep their value. */
  updateCustomer(details: CustomerDetails & { readonly locale?: never }): Promise<void>
}

/** The method `updateCustomer()`, in the form that remains if these capabilities are missing. */
export type RemainingCustomerUpdate<Missing extends Capability, T> =
  T extends BillableUser<infer _>
    ? 'languages' extends Missing
      ? 'customerDetails' extends Missing
        ? unknown
        : CustomerUpdateWithoutLanguage
      : unknown
    : unknown

/**
 * The type `T` without the methods that need one of the missing capabilities. The remaining methods
 * return types that are reduced in the same way. Pass only capabilities that none of the configured
 * providers has. If at least one provider has a capability, its methods must stay; they throw
 * Unsupported for users of the other providers.
 */
export type Without<Missing extends Capability, T> =
  T extends Promise<infer Result>
    ? Promise<Without<Missing, Result>>
    : T extends readonly (infer Item)[]
      ? Without<Missing, Item>[]
      : T extends
            | Billing<infer _>
            | BillableUser<infer _>
            | Subscription
            | SubscriptionBuilder
            | Invoice
        ? {
            [Name in Exclude<keyof T, UnsupportedMethods<Missing, T>>]: T[Name] extends (
              ...args: infer Args
            ) => infer Result
              ? (...args: Args) => Without<Missing, Result>
              : T[Name]
          } & RemainingQuantityMethods<Missing, T> &
            RemainingCustomerUpdate<Missing, T>
        : T extends SubscriptionPage
          ? Omit<T, 'subscriptions'> & { readonly subscriptions: Without<Missing, Subscription>[] }
          : T

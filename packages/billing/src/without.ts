import type { Billing } from './billing.ts'
import type { ChangedDetails } from './gateways/contract/parts/money/customer-details.ts'
import type { Capability } from './gateways/contract/parts.ts'
import type { Invoice } from './invoices/invoice.ts'
import type { SubscriptionBuilder } from './subscriptions/builder.ts'
import type { BUILDER_NEEDS, SUBSCRIPTION_NEEDS } from './subscriptions/needs.ts'
import type { Subscription } from './subscriptions/subscription.ts'
import type { SwapOptions } from './subscriptions/swap.ts'
import type { BillableUser } from './users/billable-user.ts'
import type { INVOICE_NEEDS, USER_NEEDS } from './users/needs.ts'

/** Methods that need a part which not every gateway has, each with its part. */
export interface OptionalMethods {
  /** Of a user. */
  readonly user: typeof USER_NEEDS
  /** Of a subscription. */
  readonly subscription: typeof SUBSCRIPTION_NEEDS
  /** Of a subscription to be. */
  readonly builder: typeof BUILDER_NEEDS
  /** Of an invoice. */
  readonly invoice: typeof INVOICE_NEEDS
}

/** The methods of one of them that need one of these parts. */
export type MethodsNeeding<Part extends Capability, Of extends keyof OptionalMethods> = {
  [Name in keyof OptionalMethods[Of]]: OptionalMethods[Of][Name] extends Part ? Name : never
}[keyof OptionalMethods[Of]]

/** The methods that an object lacks where these parts are missing. */
export type MethodsLacking<Missing extends Capability, T> = T extends Subscription
  ? MethodsNeeding<Missing, 'subscription'>
  : T extends SubscriptionBuilder
    ? MethodsNeeding<Missing, 'builder'>
    : T extends BillableUser<infer _>
      ? MethodsNeeding<Missing, 'user'> | ('languages' extends Missing ? 'updateCustomer' : never)
      : T extends Invoice
        ? MethodsNeeding<Missing, 'invoice'>
        : never

/** Where a plan has no quantity and other prices have, the price has to be named. */
export interface ItemQuantities<Changed> {
  /** So many more of this price. */
  incrementQuantity(count: number, price: string): Promise<Changed>
  /** So many fewer of this price, never below 1. */
  decrementQuantity(count: number, price: string): Promise<Changed>
  /** So many of this price. */
  updateQuantity(quantity: number, price: string, options?: SwapOptions): Promise<Changed>
  /** So many more of this price, billed at once. */
  incrementAndInvoice(count: number, price: string): Promise<Changed>
  /** So many of this price, billed at once. */
  updateQuantityAndInvoice(quantity: number, price: string, options?: SwapOptions): Promise<Changed>
}

/** The quantities that are left where those of a plan are missing. */
export type QuantitiesLeft<Missing extends Capability, T> = T extends Subscription
  ? 'quantities' extends Missing
    ? 'items' extends Missing
      ? unknown
      : ItemQuantities<Without<Missing, Subscription>>
    : unknown
  : unknown

/** Where no language of a customer is known, everything else of them can be changed. */
export interface DetailsWithoutLanguage {
  /** What the provider knows of the customer from now on. What is left out stays. */
  updateCustomer(details: ChangedDetails & { readonly locale?: never }): Promise<void>
}

/** The changes of a customer that are left where languages are missing. */
export type DetailsLeft<Missing extends Capability, T> =
  T extends BillableUser<infer _>
    ? 'languages' extends Missing
      ? 'customerDetails' extends Missing
        ? unknown
        : DetailsWithoutLanguage
      : unknown
    : unknown

/**
 * An object as it is where no provider that is configured has these parts: the methods that need them are
 * missing from it, and from what its others give. Where one has them, they are there, and throw Unsupported
 * for users of the others.
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
            [Name in Exclude<keyof T, MethodsLacking<Missing, T>>]: T[Name] extends (
              ...args: infer Args
            ) => infer Result
              ? (...args: Args) => Without<Missing, Result>
              : T[Name]
          } & QuantitiesLeft<Missing, T> &
            DetailsLeft<Missing, T>
        : T

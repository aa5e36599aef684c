// biome-ignore lint/suspicious/noTsIgnore: an error is expected only where the SDK is missing
/** @ts-ignore The SDK is not installed where only another provider is used: its types are `any` there. */
import type braintree from 'braintree'
// biome-ignore lint/suspicious/noTsIgnore: an error is expected only where the SDK is missing
/** @ts-ignore The SDK is not installed where only another provider is used: its types are `any` there. */
import type Stripe from 'stripe'

// Public declarations must import SDK types from here: anywhere else, an SDK that is not installed
// would be a type error.
export type { braintree, Stripe }

/**
 * `T` without the keys that the method itself sets. `never` if the SDK is not installed, since `T`
 * then has every key. The condition tests `keyof T` because one on `T` itself would not be
 * evaluated for `any`.
 */
export type OmitDecided<T, Decided extends PropertyKey> = string extends keyof T
  ? never
  : Partial<Omit<T, Decided>>

/**
 * SDK types of each provider: the result of `charge()`, and the options that `charge()`,
 * `invoiceFor()` and new customers pass on.
 */
export interface SdkTypes {
  /** Types of the package `stripe`. */
  readonly stripe: {
    readonly charged: Stripe.PaymentIntent
    readonly charge: OmitDecided<
      Stripe.PaymentIntentCreateParams,
      'amount' | 'currency' | 'customer' | 'confirm'
    >
    readonly invoice: OmitDecided<
      Stripe.InvoiceCreateParams,
      'customer' | 'currency' | 'auto_advance' | 'pending_invoice_items_behavior'
    >
    readonly customer: OmitDecided<
      Stripe.CustomerCreateParams,
      'email' | 'name' | 'phone' | 'address' | 'preferred_locales'
    >
  }
  /** Types of the package `@types/braintree`. */
  readonly braintree: {
    readonly charged: braintree.Transaction
    readonly charge: OmitDecided<braintree.TransactionRequest, 'amount' | 'customerId'>
    readonly invoice: OmitDecided<braintree.TransactionRequest, 'amount' | 'customerId'>
    readonly customer: OmitDecided<braintree.CustomerCreateRequest, 'email' | 'phone' | 'id'>
  }
}

/**
 * The options of one kind that are passed on to these providers. Any keys, if no SDK is installed.
 */
export type PassedOn<
  Kind extends 'charge' | 'invoice' | 'customer',
  Provider extends keyof SdkTypes = keyof SdkTypes,
> = [SdkTypes[Provider][Kind]] extends [never]
  ? { readonly [option: string]: unknown }
  : SdkTypes[Provider][Kind]

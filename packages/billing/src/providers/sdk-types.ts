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
 * Makes the type of the SDK options that a caller may pass: `T` without the keys that the billing
 * method sets itself. `never` if the SDK is not installed: `T` is then `any`, which the condition
 * recognizes by `keyof T`.
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
 * The options of a charge, an invoice or a customer that are passed on to the SDKs of these
 * providers. Any keys are allowed if no SDK is installed.
 */
export type PassThroughOptions<
  Kind extends 'charge' | 'invoice' | 'customer',
  Provider extends keyof SdkTypes = keyof SdkTypes,
> = [SdkTypes[Provider][Kind]] extends [never]
  ? { readonly [option: string]: unknown }
  : SdkTypes[Provider][Kind]

import type { PaymentActionRequired, PaymentFailed } from '../../core/errors/payment-errors.ts'
import type { BasisPoints } from '../../core/values/tax.ts'
import type { PassThroughOptions, SdkTypes } from '../../providers/sdk-types.ts'
import type { InvoiceData } from '../invoices/invoice.ts'

/**
 * Options for `charge()`. Other keys are passed to the provider unchanged, and are typed by its
 * SDK.
 */
export type ChargeOptions<Provider extends keyof SdkTypes = keyof SdkTypes> = {
  /**
   * Identifies the charge, so that repeated calls with the same key charge once. After a decline, a
   * call with the same key tries again.
   */
  readonly idempotencyKey?: string
  /**
   * Whether to reserve the money only, until `capture()` takes it or `releaseAuthorization()` frees
   * it.
   * @default false
   */
  readonly captureLater?: boolean
} & PassThroughOptions<'charge', Provider>

/**
 * Options for `invoiceFor()`. Other keys are passed to the provider unchanged, and are typed by its
 * SDK.
 */
export type InvoiceForOptions<Provider extends keyof SdkTypes = keyof SdkTypes> = {
  /**
   * Identifies the invoice, so that repeated calls with the same key charge once. After a decline,
   * a call with the same key tries again.
   */
  readonly idempotencyKey?: string
  /**
   * Whether to void the invoice if the charge fails. Otherwise Stripe keeps trying to collect it.
   * @default false
   */
  readonly voidOnFailure?: boolean
  /**
   * Whether the provider calculates the tax, which is added to the amount or contained in it.
   * Default: the option `tax`.
   */
  readonly automaticTax?: boolean
} & PassThroughOptions<'invoice', Provider>

/** Result of paying an invoice. */
export interface InvoiceOutcome {
  /** The invoice in its current state. */
  readonly invoice: InvoiceData
  /** The provider's id of the subscription that the invoice bills. `null` for none. */
  readonly subscription: string | null
  /** The error that explains why the invoice is not paid. `null` if it is paid. */
  readonly failure: PaymentFailed | PaymentActionRequired | null
}

/** Selects the invoices to list. */
export interface InvoiceFilter {
  /** Whether to include invoices that are unpaid or being settled. */
  readonly pending: boolean
  /** Maximum number of invoices to return, newest first. `null` for all. */
  readonly limit: number | null
  /** Looks up the tax included in a charge, for providers that do not store taxes. */
  readonly taxOf: TaxLookup
}

/**
 * Looks up the tax, in hundredths of a percent, that was included in a subscription's charge at the
 * given time.
 */
export type TaxLookup = (subscriptionId: string, at: Date) => BasisPoints

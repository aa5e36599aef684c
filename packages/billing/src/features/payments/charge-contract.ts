import type { PaymentActionRequired, PaymentFailed } from '../../core/errors/payment-errors.ts'
import type { Money } from '../../core/values/money.ts'
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
   * Default: according to the option `tax` of `createBilling()`.
   */
  readonly automaticTax?: boolean
} & PassThroughOptions<'invoice', Provider>

/** Result of paying an invoice. */
export interface InvoiceOutcome {
  /** The invoice in its current state. */
  readonly invoice: InvoiceData
  /** The provider's id of the subscription that the invoice bills. `null` if there is none. */
  readonly subscription: string | null
  /** The error that explains why the invoice is not paid. `null` if it is paid. */
  readonly failure: PaymentFailed | PaymentActionRequired | null
}

declare module '../../providers/gateway.ts' {
  interface GatewayChanges {
    /** Charges the customer's default payment method, once per idempotency key. */
    charge(customerId: string, amount: Money, options: ChargeOptions): Promise<unknown>
    /** Charges the customer's default payment method immediately, with an invoice. */
    invoiceFor(
      customerId: string,
      item: { readonly description: string; readonly amount: Money },
      options: InvoiceForOptions,
    ): Promise<InvoiceOutcome>
    /**
     * Tries to pay an open invoice now. `null` if it does not belong to this customer. Concurrent
     * calls pay it only once.
     */
    payInvoice(id: string, customerId: string): Promise<InvoiceOutcome | null>
  }
}

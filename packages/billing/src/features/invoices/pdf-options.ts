import type { Money } from '../../core/values/money.ts'
import type { InvoiceWords } from '../../core/words/words.ts'
import type { InvoicePaymentMethod } from '../../providers/payment-method.ts'

/** Content and look of an invoice or credit note as a PDF. */
export interface InvoicePdfOptions {
  /** Name of the seller. */
  readonly vendor: string
  /** Name of the product. The file name starts with it. */
  readonly product: string
  /** Lines below the vendor: street, town, phone, VAT number. */
  readonly vendorDetails?: readonly string[]
  /** Logo above the vendor, as PNG or JPEG. */
  readonly logo?: Uint8Array
  /** Lines at the foot of every page: company register, directors, bank account. */
  readonly legal?: readonly string[]
  /**
   * Lines below the customer: company, address, VAT number. Default: the address stored at the
   * provider.
   */
  readonly customerDetails?: readonly string[]
  /** Refunded amount to print below the total. `invoice.refunded()` reads it from the provider. */
  readonly refunded?: Money
  /**
   * Payment methods to print on a receipt. `invoice.paidWith()` reads them from the provider, as
   * downloads and mail do by themselves. Empty prints none.
   */
  readonly paidWith?: readonly InvoicePaymentMethod[]
  /** Text at the end of the last page. */
  readonly footer?: string
  /**
   * Locale of the document: its texts, the format of amounts and dates, and the reading direction.
   * Default: the owner's language for downloads, otherwise `en-US`. If set in the option `invoice`
   * of `createBilling()`, it is the fallback for owners whose language is unknown.
   */
  readonly locale?: string
  /** Texts that replace ours, for a language that we do not have or a term that you prefer. */
  readonly words?: Partial<InvoiceWords>
  /**
   * Contents of TrueType or OpenType font files, for writing systems that the default font DejaVu
   * Sans lacks, such as Chinese.
   */
  readonly fonts?: { readonly regular: Uint8Array; readonly bold: Uint8Array }
}

/** The seller's details and the layout of downloaded invoices. */
export type InvoiceSeller = Omit<InvoicePdfOptions, 'customerDetails' | 'refunded' | 'paidWith'>

declare module '../../options.ts' {
  interface BillingOptions<User> {
    /**
     * The seller's details and the layout of invoices. Required for the invoice route and for mail.
     */
    readonly invoice?: InvoiceSeller
  }

  interface ResolvedOptions {
    readonly invoice: InvoiceSeller | null
  }
}

import type { Amount } from '../../core/values/money.ts'
import { defineCapability, defineFeature } from '../define-feature.ts'
import type { InvoiceForOptions } from '../payments/charge-contract.ts'
import { invoiceFor } from '../payments/user.ts'
import { createBraintreeInvoices } from './braintree.ts'
import type { DownloadOptions } from './download.ts'
import type { Invoice } from './invoice.ts'
import { createStripeInvoices } from './stripe.ts'
import { createStripePaidWith } from './stripe-paid-with.ts'
import { createStripeSingleInvoices } from './stripe-single-invoices.ts'
import { createStripeInvoiceActions } from './stripe-void.ts'
import { downloadInvoice, findInvoice, type InvoiceListOptions, listInvoices } from './user.ts'

declare module '../../billable-user.ts' {
  interface BillableUser<User> {
    /**
     * Charges the default payment method immediately, with an invoice.
     * @throws PaymentFailed if the payment is declined.
     * @throws PaymentActionRequired if the customer has to authenticate.
     * @example
     * const invoice = await user.invoiceFor('Setup fee', money(1500, 'eur'), { idempotencyKey: `setup-${user.id}` })
     */
    invoiceFor(description: string, amount: Amount, options?: InvoiceForOptions): Promise<Invoice>

    /**
     * Lists the paid invoices, newest first: all of them, or the newest `limit`.
     * @example
     * const invoices = await user.invoices({ limit: 12 })
     * const rows = invoices.map((invoice) => [invoice.number, invoice.date(), invoice.total()])
     */
    invoices(options?: InvoiceListOptions): Promise<Invoice[]>

    /** Lists the paid invoices and those that are unpaid or being settled, newest first. */
    invoicesIncludingPending(options?: InvoiceListOptions): Promise<Invoice[]>

    /**
     * Finds one of the user's own invoices. `null` if there is none, or it belongs to another user.
     */
    findInvoice(id: string): Promise<Invoice | null>

    /**
     * Returns the invoice as a PDF download.
     * @throws InvoiceNotFound if there is none, or it belongs to another user.
     * @example
     * return user.downloadInvoice(id, { vendor: 'Example Ltd', product: 'Gold' })
     */
    downloadInvoice(id: string, options: DownloadOptions): Promise<Response>
  }
}

declare module '../../core/storage/tables.ts' {
  interface OperationKinds {
    void: true
  }
}

/** Invoices, as data and as PDF. */
export const invoicesFeature = defineFeature({
  user: {
    invoiceFor: (user, description, amount, options = {}) =>
      invoiceFor(user, { description, amount }, options),
    invoices: (user, options = {}) => listInvoices(user, { ...options, pending: false }),
    invoicesIncludingPending: (user, options = {}) =>
      listInvoices(user, { ...options, pending: true }),
    findInvoice,
    downloadInvoice,
  },
  stripe: (context) => ({
    ...createStripeInvoices(context),
    ...createStripePaidWith(context),
    ...createStripeSingleInvoices(context),
  }),
  braintree: createBraintreeInvoices,
})

/** Voiding unpaid invoices. */
export const invoiceActionsCapability = defineCapability('invoiceActions', {
  invoice: ['void'],
  operations: { void: null },
  stripe: createStripeInvoiceActions,
})

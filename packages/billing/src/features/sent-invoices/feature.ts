import type { Amount } from '../../core/values/money.ts'
import { defineCapability } from '../define-feature.ts'
import type { Invoice } from '../invoices/invoice.ts'
import type { SendInvoiceOptions } from './contract.ts'
import { createStripeSentInvoices } from './stripe.ts'
import { sendInvoice } from './user.ts'

declare module '../../billable-user.ts' {
  interface BillableUser<User> {
    /**
     * Creates an invoice that the customer pays later, and has the provider send it by e-mail.
     * Nothing is charged: the customer pays on the page at `invoice.paymentUrl`, or by bank
     * transfer, which `invoice.markPaid()` records. Creates the customer if there is none; no card
     * is needed. Without an idempotency key, each call creates another invoice.
     * @throws {Unsupported} at Braintree.
     * @example
     * ```ts
     * const invoice = await user.sendInvoice('Consulting', money(250_000, 'eur'), {
     *   daysUntilDue: 30,
     *   idempotencyKey: `order-${order.id}`,
     * })
     * ```
     */
    sendInvoice(description: string, amount: Amount, options?: SendInvoiceOptions): Promise<Invoice>
  }
}

declare module '../../core/storage/tables.ts' {
  interface OperationKinds {
    send_invoice: true
  }
}

/** Invoices with a due date, which the provider sends by e-mail and the customer pays later. */
export const sentInvoicesCapability = defineCapability('sentInvoices', {
  user: {
    sendInvoice: (user, description, amount, options = {}) =>
      sendInvoice(user, { description, amount }, options),
  },
  invoice: ['markPaid'],
  operations: { send_invoice: null },
  stripe: createStripeSentInvoices,
})

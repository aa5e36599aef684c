import { refreshSubscriptionRow } from '../../core/converge.ts'
import { InvoiceNotFound } from '../../core/errors/errors.ts'
import { beginOperation, finishOperation, runOperation } from '../../core/operation.ts'
import type { UserScope, UserScopeWith } from '../../core/user-scope.ts'
import { requireCount } from '../../core/values/arguments.ts'
import type { PendingConfirmation } from '../../core/values/confirmation.ts'
import type { Gateway } from '../../providers/gateway.ts'
import { requireGatewayPart } from '../../providers/gateway-parts.ts'
import { issueCreditNote } from '../credit-notes/user.ts'
import { withExistingCustomer } from '../customers/customer.ts'
import { withOwnerLocale } from '../customers/locale-of.ts'
import type { InvoiceOutcome } from '../payments/charge-contract.ts'
import { readRefundedAmount, refundCharge } from '../refunds/user.ts'
import { expandUsageLines } from '../usage/charges/usage-lines.ts'
import { type DownloadOptions, downloadAsResponse } from './download.ts'
import { buildInvoiceVoidedEvent } from './events.ts'
import { Invoice, type InvoiceData } from './invoice.ts'

/** Options for `invoices()`. */
export interface InvoiceListOptions {
  /** Maximum number of invoices to return, newest first. Default: all. */
  readonly limit?: number
}

/** Selects the invoices to list. */
export interface InvoiceQuery extends InvoiceListOptions {
  /** Whether to include unpaid invoices. */
  readonly pending: boolean
}

export async function listInvoices(
  user: UserScope,
  { limit, pending }: InvoiceQuery,
): Promise<Invoice[]> {
  const count = limit === undefined ? null : requireCount(limit)
  const customerId = await user.findCustomerId()
  if (customerId === null) return []
  const gateway = await user.gateway()
  const filter = { pending, limit: count, taxOf: await user.createChargeTaxLookup() }
  const found = await gateway.listInvoices(customerId, filter)
  const shown = await expandUsageLines(user.context, user.provider, found)
  return shown.map((data) => toInvoice(user, data))
}

export async function findInvoice(user: UserScope, id: string): Promise<Invoice | null> {
  const customerId = await user.findCustomerId()
  if (customerId === null) return null
  const gateway = await user.gateway()
  const found = await gateway.findInvoice(id, customerId, await user.createChargeTaxLookup())
  const [data] = await expandUsageLines(user.context, user.provider, found ? [found] : [])
  return data ? toInvoice(user, data) : null
}

export async function downloadInvoice(
  user: UserScope,
  id: string,
  options: DownloadOptions,
): Promise<Response> {
  const invoice = await findInvoice(user, id)
  if (!invoice) throw new InvoiceNotFound('There is no such invoice')
  return downloadAsResponse(invoice, await withOwnerLocale(user, options))
}

/** Returns the invoice if it was paid, otherwise throws the error that explains why it was not. */
export function requirePaidInvoice(user: UserScope, { invoice, failure }: InvoiceOutcome): Invoice {
  if (!failure) return toInvoice(user, invoice)
  failure.invoice = toInvoice(user, invoice)
  throw failure
}

/** Wraps the data of a user's invoice in an `Invoice`, which formats amounts and has actions. */
export function toInvoice(user: UserScope, data: InvoiceData): Invoice {
  return new Invoice(data, undefined, {
    pay: () => payOrRecord(user, (gateway, customerId) => gateway.payInvoice(data.id, customerId)),
    markPaid: async () => markPaid(user.withCapability('sentInvoices'), data.id),
    void: async () => voidInvoice(user.withCapability('invoiceActions'), data.id),
    refund: async (options) => refundCharge(user.withCapability('refunds'), data.id, options),
    refunded: async () => readRefundedAmount(user.withCapability('refunds'), data),
    paidWith: async () =>
      (data.paid && (await (await user.gateway()).findInvoicePaymentMethods?.(data))) || [],
    pendingConfirmation: () => findConfirmationOf(user, data.id),
    creditNote: async (options) =>
      issueCreditNote(user.withCapability('creditNotes'), data, options),
  })
}

async function findConfirmationOf(
  user: UserScope,
  id: string,
): Promise<PendingConfirmation | null> {
  const { confirmations } = await user.gateway()
  return confirmations?.findOfInvoice(id, await user.requireCustomerId()) ?? null
}

function markPaid(user: UserScopeWith<'sentInvoices'>, id: string): Promise<Invoice> {
  return payOrRecord(user, (gateway, customerId) =>
    requireGatewayPart(gateway, 'sentInvoices').markPaid(id, customerId),
  )
}

/**
 * Pays an invoice, or records its payment. Its state at the provider decides the result, so a
 * repeated call finds it paid.
 */
async function payOrRecord(
  user: UserScope,
  settle: (gateway: Gateway, customerId: string) => Promise<InvoiceOutcome | null>,
): Promise<Invoice> {
  const { context, provider } = user
  const outcome = await withExistingCustomer(user, async (locked, customerId) => {
    const paid = await locked.change(provider, (gateway) => settle(gateway, customerId))
    const providerId = paid?.subscription
    if (providerId) await refreshSubscriptionRow(context, locked, { provider, providerId })
    return paid
  })
  if (!outcome) throw new InvoiceNotFound('There is no such invoice')
  return requirePaidInvoice(user, outcome)
}

/**
 * Voids an invoice. Its state at the provider decides the result, so a retry after a crash finds it
 * void and updates the row.
 */
async function voidInvoice(user: UserScopeWith<'invoiceActions'>, id: string): Promise<Invoice> {
  const { context, owner, provider } = user
  const { invoice } = await withExistingCustomer(user, async (locked, customerId) => {
    const request = { provider, invoice: id }
    const operation = await beginOperation(context, locked, { owner, kind: 'void', request })
    return runOperation(context, locked, operation, async () => {
      const voided = await locked.change(provider, (gateway) =>
        requireGatewayPart(gateway, 'invoiceActions').void(id, customerId),
      )
      if (!voided) throw new InvoiceNotFound('There is no such invoice')
      const { subscription: providerId } = voided
      if (providerId) await refreshSubscriptionRow(context, locked, { provider, providerId })
      await finishOperation(context, locked, operation, (tx) =>
        context.events.record(tx, buildInvoiceVoidedEvent(user, voided.invoice)),
      )
      return voided
    })
  })
  return toInvoice(user, invoice)
}

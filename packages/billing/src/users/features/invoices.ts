import { converge } from '../../consistency/converge.ts'
import { attempt, begin, finish } from '../../consistency/operation.ts'
import { InvoiceNotFound } from '../../errors.ts'
import { invoiceVoided } from '../../events/of-invoice.ts'
import { requirePart } from '../../gateways/contract/parts.ts'
import type { InvoiceOutcome } from '../../gateways/contract/payment.ts'
import { type DownloadOptions, invoiceDownload } from '../../invoices/download.ts'
import { Invoice, type InvoiceData } from '../../invoices/invoice.ts'
import { showUsageLines } from '../../usage/charges/usage-lines.ts'
import { requireCount } from '../../values/arguments.ts'
import type { PendingConfirmation } from '../../values/confirmation.ts'
import { INVOICE_NEEDS } from '../needs.ts'
import type { UserHaving, UserScope } from '../user-scope.ts'
import { withPresentCustomer } from '../with-customer.ts'
import { writeCreditNote } from './credit-notes.ts'
import { inTheirLanguage } from './language.ts'
import { refund, refundedOf } from './refunds.ts'

/** How much of a list is wanted. */
export interface InvoiceListOptions {
  /** The newest so many. Default: all. */
  readonly limit?: number
}

/** Which invoices are wanted. */
export interface WantedInvoices extends InvoiceListOptions {
  /** Also those that are not paid yet. */
  readonly pending: boolean
}

export async function listInvoices(
  user: UserScope,
  { limit, pending }: WantedInvoices,
): Promise<Invoice[]> {
  const count = limit === undefined ? null : requireCount(limit)
  const customerId = await user.findCustomerId()
  if (customerId === null) return []
  const gateway = await user.gateway()
  const filter = { pending, limit: count, taxOf: await user.taxOf() }
  const found = await gateway.listInvoices(customerId, filter)
  const shown = await showUsageLines(user.context, user.provider, found)
  return shown.map((data) => toInvoice(user, data))
}

export async function findInvoice(user: UserScope, id: string): Promise<Invoice | null> {
  const customerId = await user.findCustomerId()
  if (customerId === null) return null
  const gateway = await user.gateway()
  const found = await gateway.findInvoice(id, customerId, await user.taxOf())
  const [data] = await showUsageLines(user.context, user.provider, found ? [found] : [])
  return data ? toInvoice(user, data) : null
}

export async function downloadInvoice(
  user: UserScope,
  id: string,
  options: DownloadOptions,
): Promise<Response> {
  const invoice = await findInvoice(user, id)
  if (!invoice) throw new InvoiceNotFound('There is no such invoice')
  return invoiceDownload(invoice, await inTheirLanguage(user, options))
}

/** The invoice that was paid, or why it was not. */
export function requirePaidInvoice(user: UserScope, { invoice, failure }: InvoiceOutcome): Invoice {
  if (!failure) return toInvoice(user, invoice)
  failure.invoice = toInvoice(user, invoice)
  throw failure
}

function toInvoice(user: UserScope, data: InvoiceData): Invoice {
  return new Invoice(data, undefined, {
    pay: () => payInvoice(user, data.id),
    void: async () => voidInvoice(user.having(INVOICE_NEEDS.void), data.id),
    refund: async (options) => refund(user.having(INVOICE_NEEDS.refund), data.id, options),
    refunded: async () => refundedOf(user.having(INVOICE_NEEDS.refunded), data),
    pendingConfirmation: () => findConfirmationOf(user, data.id),
    creditNote: async (options) =>
      writeCreditNote(user.having(INVOICE_NEEDS.creditNote), data, options),
  })
}

async function findConfirmationOf(
  user: UserScope,
  id: string,
): Promise<PendingConfirmation | null> {
  const { confirmations } = await user.gateway()
  return confirmations?.findOfInvoice(id, await user.requireCustomerId()) ?? null
}

async function payInvoice(user: UserScope, id: string): Promise<Invoice> {
  const { context, provider } = user
  const outcome = await withPresentCustomer(user, async (locked, customerId) => {
    const paid = await locked.change(provider, (gateway) => gateway.payInvoice(id, customerId))
    const providerId = paid?.subscription
    if (providerId) await converge(context, locked, { provider, providerId })
    return paid
  })
  if (!outcome) throw new InvoiceNotFound('There is no such invoice')
  return requirePaidInvoice(user, outcome)
}

/** Its own state says whether it was done: whoever asks again after a kill finds it so, and brings the row to it. */
async function voidInvoice(user: UserHaving<'invoiceActions'>, id: string): Promise<Invoice> {
  const { context, owner, provider } = user
  const { invoice } = await withPresentCustomer(user, async (locked, customerId) => {
    const request = { provider, invoice: id }
    const operation = await begin(context, locked, { owner, kind: 'void', request })
    return attempt(context, locked, operation, async () => {
      const voided = await locked.change(provider, (gateway) =>
        requirePart(gateway, 'invoiceActions').void(id, customerId),
      )
      if (!voided) throw new InvoiceNotFound('There is no such invoice')
      const { subscription: providerId } = voided
      if (providerId) await converge(context, locked, { provider, providerId })
      await finish(context, locked, operation, (tx) =>
        context.events.record(tx, invoiceVoided(user, voided.invoice)),
      )
      return voided
    })
  })
  return toInvoice(user, invoice)
}

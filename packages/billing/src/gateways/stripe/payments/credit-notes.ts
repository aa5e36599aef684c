import type Stripe from 'stripe'
import type { CreditNoteData, CreditNoteReason } from '../../../invoices/credit-note.ts'
import type { InvoiceLine } from '../../../invoices/invoice-parts.ts'
import type { NewCreditNote } from '../../contract/parts/money/credit-notes.ts'
import type { GatewayParts } from '../../contract/parts.ts'
import { idOf, type StripeContext, toDate } from '../sdk/client.ts'
import { isMissing } from '../sdk/errors.ts'
import { once } from '../sdk/once.ts'
import { leftOf, noteParams } from './credit-note-terms.ts'
import { customerOf, discountsOf, isReversed, taxesOf, taxIdsOf } from './invoices.ts'
import { asRefusal } from './refunds.ts'

/** What has to be expanded for `describe`. */
const DETAILS = ['invoice', 'customer_balance_transaction', 'discount_amounts.discount']
const LIST_DETAILS = DETAILS.map((path) => `data.${path}`)

export function stripeCreditNotes(context: StripeContext): Pick<GatewayParts, 'creditNotes'> {
  const { stripe } = context
  return {
    creditNotes: {
      list: (customer, limit) => list(context, { customer }, limit),
      listByInvoice: (invoice) => list(context, { invoice }, null),
      async find(id, customerId) {
        if (!/^cn_\w{1,100}$/.test(id)) return null
        try {
          const note = await stripe.creditNotes.retrieve(id, { expand: DETAILS })
          return idOf(note.customer) === customerId ? await describe(context, note) : null
        } catch (error) {
          if (isMissing(error)) return null
          throw error
        }
      },
      findByKey: (invoice, key) => findByKey(context, invoice, key),
      async left(id, refund) {
        const { ofInvoice, ofRefund } = await leftOf(context, await stripe.invoices.retrieve(id), {
          refund,
          disputes: false,
        })
        return { ofInvoice, ofRefund }
      },
      create: (note) => create(context, note),
    },
  }
}

async function list(
  context: StripeContext,
  of: { readonly customer: string } | { readonly invoice: string },
  limit: number | null,
): Promise<CreditNoteData[]> {
  const found: CreditNoteData[] = []
  const query = { ...of, limit: Math.min(limit ?? 100, 100), expand: LIST_DETAILS }
  for await (const note of context.stripe.creditNotes.list(query)) {
    found.push(await describe(context, note))
    if (found.length === limit) break
  }
  return found
}

async function findByKey(
  context: StripeContext,
  invoice: string,
  key: string,
): Promise<CreditNoteData | null> {
  const query = { invoice, limit: 100, expand: LIST_DETAILS }
  for await (const note of context.stripe.creditNotes.list(query)) {
    if (note.metadata?.tollgate_key === key) return describe(context, note)
  }
  return null
}

async function create(context: StripeContext, wanted: NewCreditNote): Promise<CreditNoteData> {
  const { stripe } = context
  const { invoice: id, reason, memo, key } = wanted
  // What is left of the invoice is not what it was: another request under the same key would be refused.
  const before = await findByKey(context, id, key)
  if (before) return before
  const params: Stripe.CreditNoteCreateParams = {
    ...(await noteParams(context, wanted, await stripe.invoices.retrieve(id))),
    ...(reason === null ? {} : { reason }),
    ...(memo === null ? {} : { memo }),
    metadata: { tollgate_key: key },
    expand: DETAILS,
  }
  try {
    return await once(
      `${key}:credit-note`,
      async (request) => describe(context, await stripe.creditNotes.create(params, request)),
      () => findByKey(context, id, key),
    )
  } catch (error) {
    throw isOfRefund(error) ? asRefusal(error) : error
  }
}

/** That the money cannot go back, not that the note is wrong. */
function isOfRefund(error: unknown): boolean {
  const { code } = error as { readonly code?: unknown }
  return code === 'charge_disputed' || code === 'charge_already_refunded'
}

async function describe(context: StripeContext, note: Stripe.CreditNote): Promise<CreditNoteData> {
  const invoice = note.invoice as Stripe.Invoice
  const refunded = note.refunds.reduce((sum, { amount_refunded }) => sum + amount_refunded, 0)
  const outside = note.out_of_band_amount ?? 0
  const lines = await allLines(context, note)
  return {
    id: note.id,
    provider: 'stripe',
    number: note.number,
    invoice: invoice.id,
    invoiceNumber: invoice.number ?? invoice.id,
    date: toDate(note.created),
    currency: note.currency,
    customer: customerOf(invoice),
    lines: lines.map(describeLine),
    creditedLines: lines.flatMap(({ invoice_line_item: line, quantity }) =>
      line === undefined ? [] : [{ line, ...(quantity === null ? {} : { quantity }) }],
    ),
    subtotal: note.subtotal,
    discounts: discountsOf(note.discount_amounts),
    taxes: await taxesOf(context, note.total_taxes),
    customerTaxIds: taxIdsOf(invoice),
    reverseCharge: isReversed(invoice),
    total: note.total,
    givenBack: { refunded, toBalance: creditOf(note), outside },
    refunds: note.refunds.flatMap(({ refund }) => idOf(refund) ?? []),
    reason: note.reason as CreditNoteReason | null,
    memo: note.memo,
    isVoid: note.status === 'void',
    raw: note,
  }
}

/** Stripe writes what customers owe. */
function creditOf({ customer_balance_transaction: entry }: Stripe.CreditNote): number {
  return typeof entry === 'object' && entry !== null ? Math.abs(entry.amount) : 0
}

async function allLines(
  { stripe }: StripeContext,
  { id, lines }: Stripe.CreditNote,
): Promise<Stripe.CreditNoteLineItem[]> {
  if (!lines.has_more) return lines.data
  const found: Stripe.CreditNoteLineItem[] = []
  for await (const line of stripe.creditNotes.listLineItems(id, { limit: 100 })) found.push(line)
  return found
}

function describeLine(line: Stripe.CreditNoteLineItem): InvoiceLine {
  return {
    id: line.id,
    description: line.description ?? 'Credit',
    amount: line.amount,
    quantity: line.quantity,
    period: null,
  }
}

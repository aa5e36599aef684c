import type Stripe from 'stripe'
import type { GatewayParts } from '../../providers/gateway-parts.ts'
import {
  getReferencedId,
  listAll,
  nullIfMissing,
  type StripeContext,
  toDate,
} from '../../providers/stripe/client.ts'
import { createIdempotently } from '../../providers/stripe/once.ts'
import type { InvoiceLine } from '../invoices/invoice-parts.ts'
import {
  isReverseCharged,
  readInvoiceTaxes,
  readInvoiceTaxIds,
  toInvoiceCustomer,
  toInvoiceDiscounts,
} from '../invoices/stripe.ts'
import { toRefundRefusedError } from '../refunds/stripe.ts'
import type { NewCreditNote } from './contract.ts'
import type { CreditNoteData, CreditNoteReason } from './credit-note.ts'
import { buildCreditNoteParams, readRemainingAmounts } from './stripe-terms.ts'

/** Members that `describe` needs expanded. */
const DETAILS = ['invoice', 'customer_balance_transaction', 'discount_amounts.discount']
const LIST_DETAILS = DETAILS.map((path) => `data.${path}`)

export function createStripeCreditNotes(context: StripeContext): Pick<GatewayParts, 'creditNotes'> {
  const { stripe } = context
  return {
    creditNotes: {
      list: (customer, limit) => list(context, { customer }, limit),
      listByInvoice: (invoice) => list(context, { invoice }, null),
      async find(id, customerId) {
        if (!/^cn_\w{1,100}$/.test(id)) return null
        return nullIfMissing(async () => {
          const note = await stripe.creditNotes.retrieve(id, { expand: DETAILS })
          return getReferencedId(note.customer) === customerId ? describe(context, note) : null
        })
      },
      findByKey: (invoice, key) => findByKey(context, invoice, key),
      async left(id, refund) {
        const { ofInvoice, ofRefund } = await readRemainingAmounts(
          context,
          await stripe.invoices.retrieve(id),
          {
            refund,
            disputes: false,
          },
        )
        return { ofInvoice, ofRefund }
      },
      create: (note) => create(context, note),
    },
  }
}

async function list(
  context: StripeContext,
  noteFilter: { readonly customer: string } | { readonly invoice: string },
  limit: number | null,
): Promise<CreditNoteData[]> {
  const query = { ...noteFilter, limit: Math.min(limit ?? 100, 100), expand: LIST_DETAILS }
  const found: CreditNoteData[] = []
  for (const note of await listAll(context.stripe.creditNotes.list(query), limit)) {
    found.push(await describe(context, note))
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

async function create(
  context: StripeContext,
  requestedCreditNote: NewCreditNote,
): Promise<CreditNoteData> {
  const { stripe } = context
  const { invoice: id, reason, memo, key } = requestedCreditNote
  // By now less is left of the invoice, so a repeat would send other parameters under the same key,
  // which Stripe rejects.
  const before = await findByKey(context, id, key)
  if (before) return before
  const params: Stripe.CreditNoteCreateParams = {
    ...(await buildCreditNoteParams(
      context,
      requestedCreditNote,
      await stripe.invoices.retrieve(id),
    )),
    ...(reason === null ? {} : { reason }),
    ...(memo === null ? {} : { memo }),
    metadata: { tollgate_key: key },
    expand: DETAILS,
  }
  try {
    return await createIdempotently(
      `${key}:credit-note`,
      async (request) => describe(context, await stripe.creditNotes.create(params, request)),
      () => findByKey(context, id, key),
    )
  } catch (error) {
    throw isRefundRejection(error) ? toRefundRefusedError(error) : error
  }
}

/** Whether Stripe rejected the refund of the money, and not the credit note itself. */
function isRefundRejection(error: unknown): boolean {
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
    customer: toInvoiceCustomer(invoice),
    lines: lines.map(describeLine),
    creditedLines: lines.flatMap(({ invoice_line_item: line, quantity }) =>
      line === undefined ? [] : [{ line, ...(quantity === null ? {} : { quantity }) }],
    ),
    subtotal: note.subtotal,
    discounts: toInvoiceDiscounts(note.discount_amounts),
    taxes: await readInvoiceTaxes(context, note.total_taxes),
    customerTaxIds: readInvoiceTaxIds(invoice),
    reverseCharge: isReverseCharged(invoice),
    total: note.total,
    givenBack: { refunded, toBalance: readBalanceCredit(note), outside },
    refunds: note.refunds.flatMap(({ refund }) => getReferencedId(refund) ?? []),
    reason: note.reason as CreditNoteReason | null,
    memo: note.memo,
    isVoid: note.status === 'void',
    raw: note,
  }
}

/** The amount credited to the balance. Stripe counts credit as negative. */
function readBalanceCredit({ customer_balance_transaction: entry }: Stripe.CreditNote): number {
  return typeof entry === 'object' && entry !== null ? Math.abs(entry.amount) : 0
}

async function allLines(
  { stripe }: StripeContext,
  { id, lines }: Stripe.CreditNote,
): Promise<Stripe.CreditNoteLineItem[]> {
  if (!lines.has_more) return lines.data
  return listAll(stripe.creditNotes.listLineItems(id, { limit: 100 }))
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

import type Stripe from 'stripe'
import type {
  CreditedLine,
  CreditNoteData,
  CreditNoteReason,
} from '../../../invoices/credit-note.ts'
import type { InvoiceLine } from '../../../invoices/invoice-parts.ts'
import type { NewCreditNote } from '../../contract/parts/money/credit-notes.ts'
import type { GatewayParts } from '../../contract/parts.ts'
import { idOf, type StripeContext, toDate } from '../sdk/client.ts'
import { isMissing } from '../sdk/errors.ts'
import { once } from '../sdk/once.ts'
import { customerOf, discountsOf, isReversed, taxesOf, taxIdsOf } from './invoices.ts'

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
  const invoice = await stripe.invoices.retrieve(id)
  const { total, ...what } = await toCredit(context, wanted, invoice)
  const params: Stripe.CreditNoteCreateParams = {
    invoice: id,
    ...what,
    ...wayBack(wanted.to, total - Math.min(total, invoice.amount_remaining)),
    ...(reason === null ? {} : { reason }),
    ...(memo === null ? {} : { memo }),
    metadata: { tollgate_key: key },
    expand: DETAILS,
  }
  return once(
    `${key}:credit-note`,
    async (request) => describe(context, await stripe.creditNotes.create(params, request)),
    () => findByKey(context, id, key),
  )
}

type Credited = Pick<Stripe.CreditNoteCreateParams, 'amount' | 'lines'> & {
  /** What it comes to, with discounts and taxes: Stripe does not say before. */
  readonly total: number
}

/** A whole invoice line by line, with its taxes; where that cannot be, the amount that is left. */
async function toCredit(
  { stripe }: StripeContext,
  { of }: NewCreditNote,
  invoice: Stripe.Invoice,
): Promise<Credited> {
  if (of !== null && 'amount' in of) return { amount: of.amount, total: of.amount }
  const all: Stripe.InvoiceLineItem[] = []
  for await (const line of stripe.invoices.listLineItems(invoice.id, { limit: 100 })) all.push(line)
  if (of !== null) return ofLines(all, of)
  const credited =
    invoice.pre_payment_credit_notes_amount + invoice.post_payment_credit_notes_amount
  const isWhole = credited === 0 && all.every(({ amount }) => amount > 0)
  if (isWhole) {
    const whole = all.map(({ id: line }) => ({ line }))
    return { ...ofLines(all, whole), total: invoice.total }
  }
  const left = invoice.total - credited
  return { amount: left, total: left }
}

function ofLines(
  all: readonly Stripe.InvoiceLineItem[],
  wanted: readonly CreditedLine[],
): Credited {
  const lines = wanted.map(({ line, quantity }) => {
    const found = all.find(({ id }) => id === line)
    const count = found?.quantity ?? 1
    return { found, line, quantity: quantity ?? count, count }
  })
  return {
    lines: lines.map(({ line, quantity }) => ({
      type: 'invoice_line_item',
      invoice_line_item: line,
      quantity,
    })),
    total: lines.reduce((sum, { found, quantity, count }) => {
      if (!found) return sum
      const part = (amount: number) => Math.round((amount * quantity) / count)
      const taxes = (found.taxes ?? []).filter((tax) => tax.tax_behavior !== 'inclusive')
      const off = (found.discount_amounts ?? []).reduce((all, each) => all + part(each.amount), 0)
      return sum + part(found.amount) - off + taxes.reduce((all, tax) => all + part(tax.amount), 0)
    }, 0),
  }
}

/** Stripe wants to be told where the part that was paid goes, to the cent. */
function wayBack(to: NewCreditNote['to'], paid: number): Partial<Stripe.CreditNoteCreateParams> {
  if (paid === 0) return {}
  if (to === 'refund') return { refund_amount: paid }
  return to === 'balance' ? { credit_amount: paid } : { out_of_band_amount: paid }
}

async function describe(context: StripeContext, note: Stripe.CreditNote): Promise<CreditNoteData> {
  const invoice = note.invoice as Stripe.Invoice
  const refunded = note.refunds.reduce((sum, { amount_refunded }) => sum + amount_refunded, 0)
  const outside = note.out_of_band_amount ?? 0
  return {
    id: note.id,
    provider: 'stripe',
    number: note.number,
    invoice: invoice.id,
    invoiceNumber: invoice.number ?? invoice.id,
    date: toDate(note.created),
    currency: note.currency,
    customer: customerOf(invoice),
    lines: (await allLines(context, note)).map(describeLine),
    subtotal: note.subtotal,
    discounts: discountsOf(note.discount_amounts),
    taxes: await taxesOf(context, note.total_taxes),
    customerTaxIds: taxIdsOf(invoice),
    reverseCharge: isReversed(invoice),
    total: note.total,
    givenBack: { refunded, toBalance: creditOf(note), outside },
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

import type Stripe from 'stripe'
import { getReferencedId, listAll, type StripeContext } from '../../providers/stripe/client.ts'

/**
 * A line of a Stripe invoice, or a pending invoice item. Amounts are in the currency's smallest
 * unit.
 */
export interface BilledLine {
  readonly id: string
  /** Id of the invoice with this line. `null` for a pending invoice item. */
  readonly invoice: string | null
  /** Id of the price whose billing period the line bills or credits. `null` for other lines. */
  readonly price: string | null
  readonly from: number
  readonly to: number
  /** Amount after discounts, without taxes that are added to the price. Negative for credit. */
  readonly amount: number
  /** Taxes that are added to the amount. 0 while the item is pending. */
  readonly tax: number
  readonly isProration: boolean
  /**
   * Whether the line takes back credit for unused time, because the money for that time was
   * returned before.
   */
  readonly isWithheld: boolean
  /** Id of the invoice item behind the line. `null` if there is no item. */
  readonly item: string | null
}

/** Metadata keys of a charge that withholds credit: the price, and the end of its time. */
const PRICE = 'tollgate_withheld'
const UNTIL = 'tollgate_until'

/**
 * Returns the metadata that marks a line as taking back credit for unused time of a price until
 * this time (Unix seconds).
 */
export function buildWithheldCreditMetadata(price: string, until: number): Stripe.MetadataParam {
  return { [PRICE]: price, [UNTIL]: String(until) }
}

export function isWithheldCredit({
  metadata,
}: {
  readonly metadata?: Stripe.Metadata | null
}): boolean {
  return metadata?.[PRICE] !== undefined
}

/** Reads all lines of a Stripe invoice, page by page. */
export async function readInvoiceLines(
  { stripe }: StripeContext,
  { id, lines }: Stripe.Invoice,
): Promise<BilledLine[]> {
  if (!lines.has_more) return lines.data.map((line) => toBilledLine(line, id))
  const all = await listAll(stripe.invoices.listLineItems(id, { limit: 100 }))
  return all.map((line) => toBilledLine(line, id))
}

/** Reads the pending invoice items of a Stripe subscription. */
export async function readPendingLines(
  { stripe }: StripeContext,
  { id, customer }: { readonly id: string; readonly customer: string },
): Promise<BilledLine[]> {
  const found: BilledLine[] = []
  for await (const item of stripe.invoiceItems.list({ customer, pending: true, limit: 100 })) {
    if (getReferencedId(item.parent?.subscription_details?.subscription) !== id) continue
    found.push({
      id: item.id,
      invoice: null,
      amount: item.amount,
      tax: 0,
      isProration: item.proration,
      item: item.id,
      ...readBilledTime(item, item.proration),
    })
  }
  return found
}

export function toBilledLine(line: Stripe.InvoiceLineItem, invoice: string | null): BilledLine {
  const { subscription_item_details: ofItem, invoice_item_details: single } = line.parent ?? {}
  const isProration = (ofItem ?? single)?.proration ?? false
  const sum = (all: readonly { readonly amount: number }[] | null) =>
    (all ?? []).reduce((total, { amount }) => total + amount, 0)
  return {
    id: line.id,
    invoice,
    amount: line.amount - sum(line.discount_amounts),
    tax: sum(listExclusiveTaxes(line)),
    isProration,
    item: getReferencedId((ofItem ?? single)?.invoice_item),
    ...readBilledTime(line, Boolean(ofItem) || isProration),
  }
}

export function listExclusiveTaxes({
  taxes,
}: Stripe.InvoiceLineItem): Stripe.InvoiceLineItem.Tax[] {
  return (taxes ?? []).filter(({ tax_behavior: behavior }) => behavior === 'exclusive')
}

function readBilledTime(
  line: Pick<Stripe.InvoiceLineItem, 'period' | 'pricing'> & {
    readonly metadata?: Stripe.Metadata | null
  },
  isTime: boolean,
): Pick<BilledLine, 'price' | 'from' | 'to' | 'isWithheld'> {
  const { metadata, period, pricing } = line
  const withheld = metadata?.[PRICE]
  if (withheld !== undefined) {
    const to = Number(metadata?.[UNTIL])
    return { price: withheld, from: to - 1, to, isWithheld: true }
  }
  const price = isTime ? getReferencedId(pricing?.price_details?.price) : null
  return { price, from: period.start, to: period.end, isWithheld: false }
}

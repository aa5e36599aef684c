import type Stripe from 'stripe'
import { money } from '../../core/values/money.ts'
import type {
  PreviewLine,
  PreviewLineKind,
  UpcomingInvoice,
} from '../forecasts/upcoming-invoice.ts'
import type { InvoiceData } from '../invoices/invoice.ts'
import type { InvoiceDiscount } from '../invoices/invoice-parts.ts'
import { isWithheldCredit } from '../proration/stripe-lines.ts'
import type { SwapPreview } from './contract.ts'

/**
 * Converts Stripe's preview of an invoice. Every amount that is part of the total becomes a line.
 */
export function toUpcomingInvoice(invoice: InvoiceData, date: Date): UpcomingInvoice {
  const { currency } = invoice
  const line = (kind: PreviewLineKind, description: string, amount: number): PreviewLine => ({
    kind,
    description,
    amount: money(amount, currency),
  })
  const included = invoice.taxes.filter(({ inclusive }) => inclusive)
  return {
    date,
    ...(isPlaceUnknown(invoice) ? { taxLocationUnknown: true } : {}),
    total: money(invoice.amountDue, currency),
    lines: [
      ...itemsOf(invoice, line),
      ...invoice.discounts.map((each) => line('discount', discountLabel(each), -each.amount)),
      ...invoice.taxes
        .filter(({ inclusive }) => !inclusive)
        .map(({ percentage, amount }) => line('tax', taxLabel(percentage), amount)),
      ...balanceOf(invoice, line),
    ],
    includedTax: money(
      included.reduce((sum, { amount }) => sum + amount, 0),
      currency,
    ),
  }
}

/** Converts Stripe's preview of the invoice for a change to a `SwapPreview`. */
export function toSwapPreview(
  invoice: InvoiceData,
  {
    date,
    withheld,
    ...when
  }: Pick<SwapPreview, 'immediately' | 'date' | 'prorationDate'> & {
    /** Credit in this preview that another line of the preview takes back. */
    readonly withheld: number
  },
): SwapPreview {
  const upcoming = toUpcomingInvoice(invoice, date)
  const credited = upcoming.lines.filter(
    ({ kind, amount }) => (kind === 'item' || kind === 'proration') && amount.amount < 0,
  )
  return { ...upcoming, ...when, credit: money(-sumOf(credited) - withheld, invoice.currency) }
}

function isPlaceUnknown({ raw }: InvoiceData): boolean {
  return (raw as Stripe.Invoice).automatic_tax.status === 'requires_location_inputs'
}

function discountLabel({ name, percentOff }: InvoiceDiscount): string {
  if (name === null) return 'Discount'
  return `Discount (${name}${percentOff === null ? '' : `, ${percentOff} % off`})`
}

type Line = (kind: PreviewLineKind, description: string, amount: number) => PreviewLine

function itemsOf({ lines, subtotal, raw }: InvoiceData, line: Line): PreviewLine[] {
  const { data } = (raw as Stripe.Invoice).lines
  const items = lines.map(({ description, amount, isUsage }, at) =>
    line(isUsage ? 'usage' : isProration(data[at]) ? 'proration' : 'item', description, amount),
  )
  // Stripe returns only the first ten lines.
  const rest = subtotal - sumOf(items)
  return rest === 0 ? items : [...items, line('item', 'Other items', rest)]
}

function isProration(line: Stripe.InvoiceLineItem | undefined): boolean {
  if (line && isWithheldCredit(line)) return true
  const { subscription_item_details, invoice_item_details } = line?.parent ?? {}
  return (subscription_item_details ?? invoice_item_details)?.proration ?? false
}

/**
 * Returns the line for the customer's balance: earlier credit is used first. A negative total is
 * kept for later invoices, and so is an amount that is too small for Stripe to charge.
 */
function balanceOf(invoice: InvoiceData, line: Line): PreviewLine[] {
  const { total, amountDue, startingBalance } = invoice
  const balance = amountDue - total
  if (balance === 0) return []
  if (amountDue === 0 && total + startingBalance > 0) {
    return [line('balance', 'Amount too small to charge now', balance)]
  }
  if (balance < 0) return [line('balance', 'Credit from before', balance)]
  return [line('balance', total < 0 ? 'Kept for later invoices' : 'Owed from before', balance)]
}

function taxLabel(percentage: string | null): string {
  return percentage === null ? 'Tax' : `Tax (${percentage} %)`
}

function sumOf(lines: readonly PreviewLine[]): number {
  return lines.reduce((sum, { amount }) => sum + amount.amount, 0)
}

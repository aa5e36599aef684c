import type Stripe from 'stripe'
import type { InvoiceData } from '../../../invoices/invoice.ts'
import type { InvoiceDiscount } from '../../../invoices/invoice-parts.ts'
import { money } from '../../../values/money.ts'
import type { PreviewLine, PreviewLineKind, SwapPreview } from '../../contract/swap.ts'

/** Stripe's preview in our words: every amount that makes the total is a line of its own. */
export function previewOf(
  invoice: InvoiceData,
  when: Pick<SwapPreview, 'immediately' | 'date' | 'prorationDate'>,
): SwapPreview {
  const { currency } = invoice
  const line = (kind: PreviewLineKind, description: string, amount: number): PreviewLine => ({
    kind,
    description,
    amount: money(amount, currency),
  })
  const items = itemsOf(invoice, line)
  const included = invoice.taxes.filter(({ inclusive }) => inclusive)
  return {
    ...when,
    ...(isPlaceUnknown(invoice) ? { taxLocationUnknown: true } : {}),
    total: money(invoice.amountDue, currency),
    credit: money(-sumOf(items.filter(({ amount }) => amount.amount < 0)), currency),
    lines: [
      ...items,
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
  const items = lines.map(({ description, amount }, at) =>
    line(isProration(data[at]) ? 'proration' : 'item', description, amount),
  )
  // Stripe shows the first ten.
  const rest = subtotal - sumOf(items)
  return rest === 0 ? items : [...items, line('item', 'Other items', rest)]
}

function isProration(line: Stripe.InvoiceLineItem | undefined): boolean {
  const { subscription_item_details, invoice_item_details } = line?.parent ?? {}
  return (subscription_item_details ?? invoice_item_details)?.proration ?? false
}

/** Credit from before pays first; what a negative invoice leaves over is kept for later ones. */
function balanceOf({ total, amountDue }: InvoiceData, line: Line): PreviewLine[] {
  const balance = amountDue - total
  if (balance === 0) return []
  if (balance < 0) return [line('balance', 'Credit from before', balance)]
  return [line('balance', total < 0 ? 'Kept for later invoices' : 'Owed from before', balance)]
}

function taxLabel(percentage: string | null): string {
  return percentage === null ? 'Tax' : `Tax (${percentage} %)`
}

function sumOf(lines: readonly PreviewLine[]): number {
  return lines.reduce((sum, { amount }) => sum + amount.amount, 0)
}

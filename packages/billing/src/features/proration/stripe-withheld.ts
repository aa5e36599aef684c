import type Stripe from 'stripe'
import { InvalidArgument } from '../../core/errors/errors.ts'
import { computeUnusedTimeCredit, type PaidTime } from '../../core/values/money-back.ts'
import { getReferencedId, type StripeContext } from '../../providers/stripe/client.ts'
import {
  type BilledLine,
  buildWithheldCreditMetadata,
  listExclusiveTaxes,
  toBilledLine,
} from './stripe-lines.ts'
import { type CurrentPaidTimeRecord, readCurrentPaidTime } from './stripe-running.ts'

/**
 * Credit for unused time that Stripe gives, and that the same change charges back, because the
 * money for that time was returned before. A negative amount gives back credit that an earlier
 * change withheld.
 */
export interface WithheldCredit {
  readonly item: Stripe.SubscriptionItem
  /** Amount in the currency's smallest unit, without taxes that are added to it. */
  readonly amount: number
  readonly currency: string
  /** End of the credited time, in Unix seconds. */
  readonly until: number
}

type Details = Stripe.InvoiceCreatePreviewParams.SubscriptionDetails

/** A change of a subscription, as parameters of Stripe's invoice preview. */
export interface PreviewedChange {
  readonly details: Details
  readonly automatic_tax?: Stripe.InvoiceCreatePreviewParams.AutomaticTax
  /**
   * Whether the change moves or removes the end of the subscription. If so, credit that was
   * withheld for the earlier end is given back.
   */
  readonly movesEnd: boolean
}

/**
 * Calculates the part of Stripe's credit for a change that is withheld from the customer, by
 * charging it in the same change. Stripe credits unused time at its full price, even if the money
 * for it was refunded before. The amounts are read from Stripe's own preview.
 * @throws InvalidArgument if the preview has more lines than Stripe returns.
 */
export async function readWithheldCredit(
  { stripe }: StripeContext,
  current: Stripe.Subscription,
  record: CurrentPaidTimeRecord | null,
  { details, movesEnd, ...tax }: PreviewedChange,
): Promise<WithheldCredit[]> {
  if (record === null) return []
  const { lines } = await stripe.invoices.createPreview({
    subscription: current.id,
    ...tax,
    // `always_invoice` shows the prorations without the next period.
    subscription_details: { ...details, proration_behavior: 'always_invoice' },
  })
  if (lines.has_more) {
    throw new InvalidArgument(
      `Some of the money for this time was already returned, and Stripe lists only the first ${lines.data.length} lines of the credit: noProrate(), or swapAtPeriodEnd()`,
    )
  }
  return computeWithheldCredit(current, record, { lines: lines.data, movesEnd })
}

function computeWithheldCredit(
  current: Stripe.Subscription,
  record: CurrentPaidTimeRecord,
  previewedLines: { readonly lines: readonly Stripe.InvoiceLineItem[]; readonly movesEnd: boolean },
): WithheldCredit[] {
  const fresh = previewedLines.lines
    .map((line) => ({ ...toBilledLine(line, null), taxes: listExclusiveTaxes(line).length }))
    .filter(({ item, isProration }) => isProration && !(item !== null && record.waiting.has(item)))
  return current.items.data.flatMap((item): WithheldCredit[] => {
    const lines = fresh.filter(({ price }) => price === item.price.id)
    if (lines.length === 0) return []
    const until = Math.max(...lines.map(({ to }) => to))
    const time = record.timeOf(item.price.id, until)
    const taxes = Math.max(...lines.map((line) => line.taxes))
    const amount = computeWithheldAmount(lines, time, { taxes, movesEnd: previewedLines.movesEnd })
    const { currency } = current
    return amount === 0 ? [] : [{ item, amount, currency, until }]
  })
}

function computeWithheldAmount(
  lines: readonly BilledLine[],
  time: PaidTime,
  { taxes, movesEnd }: { readonly taxes: number; readonly movesEnd: boolean },
): number {
  const charged = lines.reduce((sum, { amount }) => sum + amount, 0)
  // Stripe credits all units, and charges those that stay. Only the difference is credit.
  if (charged < 0) return -charged - computeUnusedTimeCredit(-charged, time, taxes)
  if (!movesEnd || time.withheld <= 0) return 0
  const free = charged - computeUnusedTimeCredit(charged, time)
  return -Math.min(time.withheld, charged, Math.max(free, time.withheld - time.returned))
}

/** Adds up withheld credit, in the currency's smallest unit. */
export function addUpWithheldCredit(withheld: readonly WithheldCredit[]): number {
  return withheld.reduce((sum, { amount }) => sum + amount, 0)
}

/**
 * Returns the parameters that charge credit back. They are part of the update that gives the
 * credit, so that both happen in one request.
 */
export function buildWithheldUpdateParams(
  withheld: readonly WithheldCredit[],
): Pick<Stripe.SubscriptionUpdateParams, 'add_invoice_items'> {
  if (withheld.length === 0) return {}
  return { add_invoice_items: withheld.map(toItem) }
}

/** Returns the preview parameters that charge credit back, for a preview of the same update. */
export function buildWithheldPreviewParams(
  withheld: readonly WithheldCredit[],
): Pick<Stripe.InvoiceCreatePreviewParams, 'invoice_items'> {
  if (withheld.length === 0) return {}
  return { invoice_items: withheld.map(toItem) }
}

/**
 * Builds a charge that is taxed like the credit. Discounts are not applied again, because the
 * amount of the credit already contains them.
 */
function toItem({ item, amount, currency, until }: WithheldCredit) {
  const { price, tax_rates: rates } = item
  const behavior = price.tax_behavior
  return {
    price_data: {
      currency,
      product: getReferencedId(price.product) ?? '',
      unit_amount: amount,
      ...(behavior && behavior !== 'unspecified' ? { tax_behavior: behavior } : {}),
    },
    quantity: 1,
    discountable: false,
    metadata: buildWithheldCreditMetadata(price.id, until),
    ...(rates && rates.length > 0 ? { tax_rates: rates.map(({ id }) => id) } : {}),
  }
}

/**
 * Returns the parameters that charge credit back, for an update that moves the end of a
 * subscription.
 */
export async function buildEndChangeWithheldParams(
  context: StripeContext,
  current: Stripe.Subscription,
  {
    details,
    invoices,
  }: Pick<PreviewedChange, 'details'> & { readonly invoices: readonly Stripe.Invoice[] },
): Promise<Pick<Stripe.SubscriptionUpdateParams, 'add_invoice_items'>> {
  const record = await readCurrentPaidTime(context, current, { invoices, movesEnd: true })
  return buildWithheldUpdateParams(
    await readWithheldCredit(context, current, record, { details, movesEnd: true }),
  )
}

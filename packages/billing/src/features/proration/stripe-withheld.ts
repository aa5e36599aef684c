import type Stripe from 'stripe'
import { InvalidArgument } from '../../core/errors/errors.ts'
import { creditFor, type PaidTime } from '../../core/values/money-back.ts'
import { idOf, type StripeContext } from '../../providers/stripe/client.ts'
import { type BilledLine, taxesOnTop, toBilled, withheldMetadata } from './stripe-lines.ts'
import { type RunningRecord, readRunning } from './stripe-running.ts'

/**
 * Credit that Stripe gives, and that the same change charges again. A negative amount returns
 * credit that was withheld before.
 */
export interface Withheld {
  readonly item: Stripe.SubscriptionItem
  /** Amount without exclusive taxes. */
  readonly amount: number
  readonly currency: string
  /** End of the credited time, in Unix seconds. */
  readonly until: number
}

type Details = Stripe.InvoiceCreatePreviewParams.SubscriptionDetails

/** A change of a subscription, as parameters of Stripe's previews. */
export interface ShownChange {
  readonly details: Details
  readonly automatic_tax?: Stripe.InvoiceCreatePreviewParams.AutomaticTax
  /**
   * Whether the change moves or removes the end of the subscription. Credit withheld for the
   * earlier end is then returned.
   */
  readonly movesEnd: boolean
}

/**
 * Calculates from Stripe's own preview which part of its credit has to be charged again. Stripe
 * credits unused time by its price, whether or not the money was returned.
 * @throws InvalidArgument if the preview has more lines than Stripe returns.
 */
export async function readWithheld(
  { stripe }: StripeContext,
  current: Stripe.Subscription,
  record: RunningRecord | null,
  { details, movesEnd, ...tax }: ShownChange,
): Promise<Withheld[]> {
  if (record === null) return []
  const { lines } = await stripe.invoices.createPreview({
    subscription: current.id,
    ...tax,
    // `always_invoice` shows the prorations without the next period.
    subscription_details: { ...details, proration_behavior: 'always_invoice' },
  })
  if (lines.has_more) {
    throw new InvalidArgument(
      `Some of the money for this time went back, and Stripe shows ${lines.data.length} lines of what it would credit, but not the rest: noProrate(), or swapAtPeriodEnd()`,
    )
  }
  return toWithhold(current, record, { lines: lines.data, movesEnd })
}

function toWithhold(
  current: Stripe.Subscription,
  record: RunningRecord,
  shown: { readonly lines: readonly Stripe.InvoiceLineItem[]; readonly movesEnd: boolean },
): Withheld[] {
  const fresh = shown.lines
    .map((line) => ({ ...toBilled(line, null), taxes: taxesOnTop(line).length }))
    .filter(({ item, isProration }) => isProration && !(item !== null && record.waiting.has(item)))
  return current.items.data.flatMap((item): Withheld[] => {
    const lines = fresh.filter(({ price }) => price === item.price.id)
    if (lines.length === 0) return []
    const until = Math.max(...lines.map(({ to }) => to))
    const time = record.timeOf(item.price.id, until)
    const taxes = Math.max(...lines.map((line) => line.taxes))
    const amount = amountOf(lines, time, { taxes, movesEnd: shown.movesEnd })
    const { currency } = current
    return amount === 0 ? [] : [{ item, amount, currency, until }]
  })
}

function amountOf(
  lines: readonly BilledLine[],
  time: PaidTime,
  { taxes, movesEnd }: { readonly taxes: number; readonly movesEnd: boolean },
): number {
  const charged = lines.reduce((sum, { amount }) => sum + amount, 0)
  // Stripe credits all units, and charges those that stay. Only the difference is credit.
  if (charged < 0) return -charged - creditFor(-charged, time, taxes)
  if (!movesEnd || time.withheld <= 0) return 0
  const free = charged - creditFor(charged, time)
  return -Math.min(time.withheld, charged, Math.max(free, time.withheld - time.returned))
}

/** Adds up the withheld credit. */
export function sumOf(withheld: readonly Withheld[]): number {
  return withheld.reduce((sum, { amount }) => sum + amount, 0)
}

/**
 * Returns the parameters that withhold credit, for the update that gives it, so that both happen in
 * one request.
 */
export function toAdded(
  withheld: readonly Withheld[],
): Pick<Stripe.SubscriptionUpdateParams, 'add_invoice_items'> {
  if (withheld.length === 0) return {}
  return { add_invoice_items: withheld.map(toItem) }
}

/** Returns the parameters that withhold credit, for the preview of the same update. */
export function toShown(
  withheld: readonly Withheld[],
): Pick<Stripe.InvoiceCreatePreviewParams, 'invoice_items'> {
  if (withheld.length === 0) return {}
  return { invoice_items: withheld.map(toItem) }
}

/** Builds a charge taxed like the credit, which contains the discounts already. */
function toItem({ item, amount, currency, until }: Withheld) {
  const { price, tax_rates: rates } = item
  const behavior = price.tax_behavior
  return {
    price_data: {
      currency,
      product: idOf(price.product) ?? '',
      unit_amount: amount,
      ...(behavior && behavior !== 'unspecified' ? { tax_behavior: behavior } : {}),
    },
    quantity: 1,
    discountable: false,
    metadata: withheldMetadata(price.id, until),
    ...(rates && rates.length > 0 ? { tax_rates: rates.map(({ id }) => id) } : {}),
  }
}

/** Returns the parameters that withhold credit when the end of a subscription is moved. */
export async function movingEnd(
  context: StripeContext,
  current: Stripe.Subscription,
  {
    details,
    invoices,
  }: Pick<ShownChange, 'details'> & { readonly invoices: readonly Stripe.Invoice[] },
): Promise<Pick<Stripe.SubscriptionUpdateParams, 'add_invoice_items'>> {
  const record = await readRunning(context, current, { invoices, movesEnd: true })
  return toAdded(await readWithheld(context, current, record, { details, movesEnd: true }))
}

import type Stripe from 'stripe'
import { InvalidArgument } from '../../core/errors/errors.ts'
import {
  getReferencedId,
  listAll,
  type StripeContext,
  toDate,
} from '../../providers/stripe/client.ts'
import { readPendingLines } from './stripe-lines.ts'
import {
  type PaidTimeRecord,
  readInvoiceMoney,
  readOtherInvoices,
  toPaidTimeRecord,
} from './stripe-record.ts'

/** Lists the invoices of a subscription's current billing periods. */
export function listCurrentInvoices(
  context: StripeContext,
  { id, items }: Stripe.Subscription,
): Promise<Stripe.Invoice[]> {
  const since = Math.min(...items.data.map((item) => item.current_period_start))
  return listInvoicesSince(context, id, since)
}

/** Lists the invoices of a subscription that were created at or after `since` (Unix seconds). */
export async function listInvoicesSince(
  { stripe }: StripeContext,
  subscription: string,
  since: number,
): Promise<Stripe.Invoice[]> {
  return listAll(stripe.invoices.list({ subscription, created: { gte: since }, limit: 100 }))
}

/**
 * The current billing periods of a subscription, and the money that was actually paid for these
 * periods.
 */
export interface CurrentPaidTimeRecord extends PaidTimeRecord {
  /** Ids of the subscription's pending invoice items. */
  readonly waiting: ReadonlySet<string>
}

/**
 * Reads how much money was actually paid for a subscription's current billing periods. `null` if
 * Stripe's own prorations are correct, because no money was returned and no gift was used.
 * @param movesEnd Whether the change moves the end of the subscription. If so, credit that earlier
 * changes have withheld is also considered.
 */
export async function readCurrentPaidTime(
  context: StripeContext,
  current: Stripe.Subscription,
  {
    invoices,
    movesEnd,
  }: { readonly invoices: readonly Stripe.Invoice[]; readonly movesEnd: boolean },
): Promise<CurrentPaidTimeRecord | null> {
  const customer = getReferencedId(current.customer) ?? ''
  const counting = { gifts: true, disputes: true }
  const facts = await readInvoiceMoney(context, customer, invoices, counting)
  const earlier = await readOtherInvoices(context, customer, { facts, counting })
  const hasReturned = [...facts, ...earlier].some(({ returned }) => returned > 0)
  if (!hasReturned && !movesEnd) return null
  const waiting = await readPendingLines(context, { id: current.id, customer })
  const lines = [...waiting, ...facts.flatMap((fact) => fact.lines)]
  if (!hasReturned && !lines.some(({ isWithheld }) => isWithheld)) return null
  const record = toPaidTimeRecord({ facts, waiting, earlier })
  return { ...record, waiting: new Set(waiting.map(({ id }) => id)) }
}

/**
 * Moves a time into the subscription's current billing period, because Stripe rejects proration
 * dates outside it. If our clock is a few seconds slow, the current time could be before the start
 * of a new subscription.
 */
export function clampToPeriod(current: Stripe.Subscription, at: Date): Date {
  const { from, to } = periodOf(current)
  return at < from ? from : at > to ? to : at
}

/**
 * Checks that a proration date is in the subscription's current billing period.
 * @throws InvalidArgument if it belongs to an earlier period, such as that of an old preview.
 */
export function requireWithinPeriod(current: Stripe.Subscription, date: Date): Date {
  const { from, to } = periodOf(current)
  if (clampToPeriod(current, date).getTime() === date.getTime()) return date
  throw new InvalidArgument(
    `The preview is for ${date.toISOString()}, but the current period is from ${from.toISOString()} to ${to.toISOString()}: request a new preview`,
  )
}

function periodOf({ items }: Stripe.Subscription) {
  return {
    from: toDate(Math.min(...items.data.map((item) => item.current_period_start))),
    to: toDate(Math.max(...items.data.map((item) => item.current_period_end))),
  }
}

/** Billing interval of a Stripe price. `null` or `undefined` for a price that does not recur. */
export type BillingInterval = Stripe.Price.Recurring | null | undefined

/** Whether two billing intervals are the same. A missing interval matches any other. */
export function isSameInterval(a: BillingInterval, b: BillingInterval): boolean {
  return !a || !b || (a.interval === b.interval && a.interval_count === b.interval_count)
}

export function haveSameInterval(prices: readonly Pick<Stripe.Price, 'recurring'>[]): boolean {
  return prices.every(({ recurring }) => isSameInterval(prices[0]?.recurring, recurring))
}

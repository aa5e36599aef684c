import type Stripe from 'stripe'
import { InvalidArgument } from '../../core/errors/errors.ts'
import { idOf, listAll, type StripeContext, toDate } from '../../providers/stripe/client.ts'
import { pendingLinesOf } from './stripe-lines.ts'
import { type PaidRecord, readFacts, readOtherInvoices, toRecord } from './stripe-record.ts'

/** Lists the invoices of the running periods. */
export function listRunning(
  context: StripeContext,
  { id, items }: Stripe.Subscription,
): Promise<Stripe.Invoice[]> {
  const since = Math.min(...items.data.map((item) => item.current_period_start))
  return listInvoices(context, id, since)
}

/** Lists the invoices of a subscription created since then (Unix seconds). */
export async function listInvoices(
  { stripe }: StripeContext,
  subscription: string,
  since: number,
): Promise<Stripe.Invoice[]> {
  return listAll(stripe.invoices.list({ subscription, created: { gte: since }, limit: 100 }))
}

/** The billed time of the running periods, and the money actually paid for it. */
export interface RunningRecord extends PaidRecord {
  /** Ids of the pending invoice items. */
  readonly waiting: ReadonlySet<string>
}

/**
 * Reads the money actually paid for the running periods. `null` if Stripe's own prorations are
 * right, because no money was returned, and no gift was used.
 * @param movesEnd Whether the change moves the end of the subscription. If so, credit that earlier
 * changes withheld counts as well.
 */
export async function readRunning(
  context: StripeContext,
  current: Stripe.Subscription,
  {
    invoices,
    movesEnd,
  }: { readonly invoices: readonly Stripe.Invoice[]; readonly movesEnd: boolean },
): Promise<RunningRecord | null> {
  const customer = idOf(current.customer) ?? ''
  const counting = { gifts: true, disputes: true }
  const facts = await readFacts(context, customer, invoices, counting)
  const earlier = await readOtherInvoices(context, customer, { facts, counting })
  const hasReturned = [...facts, ...earlier].some(({ returned }) => returned > 0)
  if (!hasReturned && !movesEnd) return null
  const waiting = await pendingLinesOf(context, { id: current.id, customer })
  const lines = [...waiting, ...facts.flatMap((fact) => fact.lines)]
  if (!hasReturned && !lines.some(({ isWithheld }) => isWithheld)) return null
  const record = toRecord({ facts, waiting, earlier })
  return { ...record, waiting: new Set(waiting.map(({ id }) => id)) }
}

/**
 * Limits a time to the running period, as Stripe requires. If our clock is a few seconds behind, it
 * could otherwise name a time before a subscription that has just started.
 */
export function withinPeriod(current: Stripe.Subscription, at: Date): Date {
  const { from, to } = periodOf(current)
  return at < from ? from : at > to ? to : at
}

/**
 * Checks the time of a preview.
 * @throws InvalidArgument if it belongs to an earlier period.
 */
export function requireWithinPeriod(current: Stripe.Subscription, date: Date): Date {
  const { from, to } = periodOf(current)
  if (withinPeriod(current, date).getTime() === date.getTime()) return date
  throw new InvalidArgument(
    `The preview is of ${date.toISOString()}, and the running period is from ${from.toISOString()} to ${to.toISOString()}: ask for another one`,
  )
}

function periodOf({ items }: Stripe.Subscription) {
  return {
    from: toDate(Math.min(...items.data.map((item) => item.current_period_start))),
    to: toDate(Math.max(...items.data.map((item) => item.current_period_end))),
  }
}

/** Billing interval of a price. */
export type BillingInterval = Stripe.Price.Recurring | null | undefined

/** Whether two prices have the same billing interval. A price without one fits any other. */
export function isSameInterval(a: BillingInterval, b: BillingInterval): boolean {
  return !a || !b || (a.interval === b.interval && a.interval_count === b.interval_count)
}

export function haveSameInterval(prices: readonly Pick<Stripe.Price, 'recurring'>[]): boolean {
  return prices.every(({ recurring }) => isSameInterval(prices[0]?.recurring, recurring))
}

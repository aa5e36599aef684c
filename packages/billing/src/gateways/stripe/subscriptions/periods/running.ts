import type Stripe from 'stripe'
import { pendingLinesOf } from '../../payments/paid/lines.ts'
import { listInvoices } from '../../payments/paid/of-invoice.ts'
import { type PaidRecord, readEarlier, readFacts, toRecord } from '../../payments/paid/record.ts'
import { idOf, type StripeContext } from '../../sdk/client.ts'

/** Lists the invoices of the running periods. */
export function listRunning(
  context: StripeContext,
  { id, items }: Stripe.Subscription,
): Promise<Stripe.Invoice[]> {
  const since = Math.min(...items.data.map((item) => item.current_period_start))
  return listInvoices(context, id, since)
}

/** The billed time of the running periods, and the money that is really paid for it. */
export interface RunningRecord extends PaidRecord {
  /** Ids of the pending invoice items. */
  readonly waiting: ReadonlySet<string>
}

/**
 * Reads what is really paid for the running periods. Null if Stripe's own prorations are right: no money went back, and no gift paid.
 * @param movesEnd Whether the change moves the end of the subscription: then credit that was withheld before counts as well.
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
  const earlier = await readEarlier(context, customer, { facts, counting })
  const hasReturned = [...facts, ...earlier].some(({ returned }) => returned > 0)
  if (!hasReturned && !movesEnd) return null
  const waiting = await pendingLinesOf(context, { id: current.id, customer })
  const lines = [...waiting, ...facts.flatMap((fact) => fact.lines)]
  if (!hasReturned && !lines.some(({ isWithheld }) => isWithheld)) return null
  const record = toRecord({ facts, waiting, earlier })
  return { ...record, waiting: new Set(waiting.map(({ id }) => id)) }
}

import type { BillingContext } from '../../context.ts'
import type { PreviewLine, UpcomingInvoice } from '../../gateways/contract/upcoming-invoice.ts'
import { chargedUsageRepository } from '../../storage/queues/charged-usage.ts'
import type { SubscriptionRecord } from '../../storage/tables.ts'
import { money } from '../../values/money.ts'
import { netOf, withTax } from '../../values/usage/bill.ts'
import { chargedWith } from '../../values/usage/periods.ts'
import { priceBatch, readLedger } from './charge-batch.ts'
import { owedForUsage } from './charge-usage.ts'
import { type Charging, openCharging } from './charging.ts'

/** The next bill with what is charged for usage then, where we count that; null where neither comes. */
export async function addUsage(
  context: BillingContext,
  record: SubscriptionRecord,
  upcoming: UpcomingInvoice | null,
): Promise<UpcomingInvoice | null> {
  const used = await findUpcomingUsage(context, record)
  if (!used || !upcoming) return upcoming ?? used
  const { total, lines, includedTax } = upcoming
  return {
    ...upcoming,
    total: money(total.amount + used.total.amount, total.currency),
    lines: [...lines, ...used.lines],
    includedTax: money(includedTax.amount + used.includedTax.amount, includedTax.currency),
  }
}

/** Of the running period as far as it went, and what was declined. */
async function findUpcomingUsage(
  context: BillingContext,
  record: SubscriptionRecord,
): Promise<UpcomingInvoice | null> {
  const { database } = context.options
  const usage = chargedUsageRepository(database, record.provider)
  const isSettled =
    (await usage.firstWaiting(record.id)) === null &&
    (await usage.listBatches(record.id)).length === 0
  if (isSettled) return null
  const charging = await openCharging(context, record)
  if (typeof charging === 'string' || charging.found.isOver) return null
  const { currency } = charging.part
  const { bill, amount } = await priceRunning(context, charging)
  const owed = (await owedForUsage(context, record))?.amount ?? 0
  const lines: PreviewLine[] = withTax(bill).map(({ description, quantity, amount: cents }) => ({
    kind: 'usage',
    description: `${quantity} × ${description}`,
    amount: money(cents, currency),
  }))
  if (owed > 0) {
    lines.push({ kind: 'balance', description: 'Owed for usage', amount: money(owed, currency) })
  }
  const total = amount.amount + owed
  const { periodEndsAt, endsAt } = charging.found
  const date = periodEndsAt ?? endsAt
  if (total === 0 || date === null) return null
  const tax = amount.amount - netOf(bill.meters)
  return { date, total: money(total, currency), lines, includedTax: money(tax, currency) }
}

/** Nothing is owed for a trial. */
async function priceRunning(context: BillingContext, charging: Charging) {
  const { record, found, part, usage } = charging
  const now = context.options.clock.now()
  const isFree = found.trialEndsAt !== null && now < found.trialEndsAt
  const period = chargedWith(part.periodsOf(found), found.trialEndsAt, now)
  const used = isFree ? new Map() : await usage.sumOfWaiting(record.id, period)
  return priceBatch(context, charging, await readLedger(charging, { period }), used)
}

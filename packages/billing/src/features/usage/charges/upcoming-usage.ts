import type { BillingContext } from '../../../core/context.ts'
import type { SubscriptionRecord } from '../../../core/storage/tables.ts'
import { money } from '../../../core/values/money.ts'
import type { PreviewLine, UpcomingInvoice } from '../../forecasts/upcoming-invoice.ts'
import { sumWithoutTax, toLinesWithTax } from './bill.ts'
import { priceUsageBatch, readUsageLedger } from './charge-batch.ts'
import { readUsageChargeContext, type UsageChargeContext } from './charge-context.ts'
import { computeOwedUsage } from './charge-usage.ts'
import { createChargedUsageRepository } from './charged-usage-rows.ts'
import { computePricingRange } from './periods.ts'

/**
 * Adds the cost of usage that billing itself counts to the preview of the next invoice. `null` if
 * there is neither usage nor a next invoice.
 */
export async function addUsageToUpcomingInvoice(
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

/** Builds an invoice for the usage of the current period so far, and for declined charges. */
async function findUpcomingUsage(
  context: BillingContext,
  record: SubscriptionRecord,
): Promise<UpcomingInvoice | null> {
  const { database } = context.options
  const usage = createChargedUsageRepository(database, record.provider)
  const isSettled =
    (await usage.firstWaiting(record.id)) === null &&
    (await usage.listBatches(record.id)).length === 0
  if (isSettled) return null
  const charging = await readUsageChargeContext(context, record)
  if (typeof charging === 'string' || charging.found.isOver) return null
  const { currency } = charging.part
  const { bill, amount } = await pricePeriodSoFar(context, charging)
  const owed = (await computeOwedUsage(context, record))?.amount ?? 0
  const lines: PreviewLine[] = toLinesWithTax(bill).map(
    ({ description, quantity, amount: cents }) => ({
      kind: 'usage',
      description: `${quantity} × ${description}`,
      amount: money(cents, currency),
    }),
  )
  if (owed > 0) {
    lines.push({ kind: 'balance', description: 'Owed for usage', amount: money(owed, currency) })
  }
  const total = amount.amount + owed
  const { periodEndsAt, endsAt } = charging.found
  const date = periodEndsAt ?? endsAt
  if (total === 0 || date === null) return null
  const tax = amount.amount - sumWithoutTax(bill.meters)
  return { date, total: money(total, currency), lines, includedTax: money(tax, currency) }
}

/** Calculates the price of the current period so far. Usage during a trial is free. */
async function pricePeriodSoFar(context: BillingContext, charging: UsageChargeContext) {
  const { record, found, part, usage } = charging
  const now = context.options.clock.now()
  const isFree = found.trialEndsAt !== null && now < found.trialEndsAt
  const period = computePricingRange(part.periodsOf(found), found.trialEndsAt, now)
  const used = isFree ? new Map() : await usage.sumOfWaiting(record.id, period)
  return priceUsageBatch(context, charging, await readUsageLedger(charging, { period }), used)
}

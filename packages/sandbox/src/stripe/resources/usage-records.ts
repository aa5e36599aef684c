import { listPage } from '../api/lists.ts'
import type { StripeOperations } from '../api/operation.ts'
import { hasNoMeter, listUsageRecords, sumUsage } from '../catalog/usage.ts'
import { renderRow } from '../state/render.ts'
import type { SubscriptionItemRow } from '../state/rows.ts'
import { hasEnded } from '../state/subscription-status.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { formatFixedPoint } from '../wire/decimals.ts'
import { createInvalidRequestFault, createNegativeNumberFault } from '../wire/errors.ts'
import type { BillingPeriod } from '../wire/periods.ts'

/** Tolerance for differences between clocks, in seconds. */
const CLOCK_TOLERANCE = 5 * 60

/**
 * Operations on usage records of metered prices without a meter, for API versions before basil
 * (2025-03-31).
 */
export const usageRecordOperations: StripeOperations = {
  'SubscriptionItems.createUsageRecord': (params, { work, id }) => {
    const item = work.require('subscription_item', id)
    checkItem(work, item)
    const { quantity, action = 'increment' } = params
    if (quantity < 0) {
      throw createNegativeNumberFault('quantity')
    }
    const timestamp = readTimestamp(work, item, params.timestamp ?? 'now')
    const known = listUsageRecords(work, item.id).find((each) => each.timestamp === timestamp)
    if (known) {
      work.edit('usage_record', known)
      known.quantity = action === 'set' ? quantity : known.quantity + quantity
      return renderRow('usage_record', known, work.tables)
    }
    const record = work.insert('usage_record', {
      id: work.newId('mbur_1'),
      object: 'usage_record',
      livemode: false,
      quantity,
      subscription_item: item.id,
      timestamp,
    })
    return renderRow('usage_record', record, work.tables)
  },

  'SubscriptionItems.listUsageRecordSummaries': (params, { work, id, path }) => {
    const item = work.require('subscription_item', id)
    checkUsageRecords(work, item)
    return listPage(listUsageSummaries(work, item), params, path, (summary) => summary)
  },
}

function checkItem(work: UnitOfWork, item: SubscriptionItemRow): void {
  checkUsageRecords(work, item)
  if (!hasEnded(work.require('subscription', item.subscription))) return
  throw createInvalidRequestFault(
    'Cannot create the usage record because the subscription has been canceled.',
  )
}

function checkUsageRecords(work: UnitOfWork, item: SubscriptionItemRow): void {
  const price = work.require('price', item.price)
  if (hasNoMeter(price)) return
  throw createInvalidRequestFault(
    price.recurring?.usage_type === 'metered'
      ? `Cannot create a usage record for \`${item.id}\` because it is not on the legacy metered billing system. Call /v1/billing/meter_events instead.`
      : `Cannot create a usage record for \`${item.id}\` because its price is not metered.`,
  )
}

/**
 * Reads the timestamp of usage. Rejects a timestamp before the current period, because that time is
 * already billed.
 */
function readTimestamp(
  work: UnitOfWork,
  item: SubscriptionItemRow,
  timestamp: 'now' | number,
): number {
  if (timestamp === 'now') return work.now
  if (timestamp < item.current_period_start) {
    throw createInvalidRequestFault(
      "Cannot create the usage record with this timestamp because timestamps must be after the subscription's last invoice period (or current period start time).",
      'timestamp',
    )
  }
  if (timestamp > work.now + CLOCK_TOLERANCE) {
    throw createInvalidRequestFault(
      'Cannot create the usage record with this timestamp because it is in the future.',
      'timestamp',
    )
  }
  return timestamp
}

/** Returns one summary per period, the current one first. */
function listUsageSummaries(work: UnitOfWork, item: SubscriptionItemRow) {
  const subscription = work.require('subscription', item.subscription)
  const summary = (period: BillingPeriod, total: number, invoice: string | null) => ({
    id: `sis_1${item.id.slice('si_'.length)}${period.start}`,
    object: 'usage_record_summary' as const,
    invoice,
    livemode: false,
    period: { start: period.start, end: period.end },
    subscription_item: item.id,
    total_usage: total,
  })
  const billed = work.findBy('invoice', 'subscription', subscription.id).flatMap((invoice) => {
    const line = work
      .findBy('line_item', 'invoice', invoice.id)
      .find(({ $ }) => $.item === item.id && $.usage !== undefined)
    return line ? [summary(line.period, Number(line.$.usage), invoice.id)] : []
  })
  if (hasEnded(subscription)) return billed.reverse()
  const period = { start: item.current_period_start, end: item.current_period_end }
  const by = { customer: subscription.customer, item: item.id }
  const used = sumUsage(work, work.require('price', item.price), by, period)
  return [summary(period, Number(formatFixedPoint(used)), null), ...billed.reverse()]
}

import { isForm } from '../../wire/form.ts'
import { isRecord } from '../basics/look-up.ts'
import type { VersionChange } from '../basics/version-change.ts'

/** A metered price could do without a meter: it told how usage adds up that is recorded at the item. */
export const usageRecords: VersionChange = {
  since: '2025-03-31',
  name: 'usage-records',
  ends: 'usage-records',
  routes: {
    'POST /v1/subscription_items/:id/usage_records': 'SubscriptionItems.createUsageRecord',
    'GET /v1/subscription_items/:id/usage_record_summaries':
      'SubscriptionItems.listUsageRecordSummaries',
  },
  params: {
    'Prices.create'(form) {
      const { recurring } = form
      if (!isForm(recurring) || recurring.usage_type !== 'metered') return
      if (recurring.meter !== undefined) return
      form.aggregate_usage = recurring.aggregate_usage ?? 'sum'
      delete recurring.aggregate_usage
    },
    'Plans.create'(form) {
      if (form.usage_type === 'metered' && form.meter === undefined) form.aggregate_usage ??= 'sum'
    },
  },
  takes: { 'Prices.create': ['aggregate_usage'], 'Plans.create': ['aggregate_usage'] },
  objects: {
    price(wire, tables) {
      if (!isRecord(wire.recurring)) return
      wire.recurring.aggregate_usage = tables.price.get(wire.id)?.$?.aggregateUsage ?? null
    },
    plan(wire, tables) {
      wire.aggregate_usage = tables.price.get(wire.id)?.$?.aggregateUsage ?? null
    },
  },
}

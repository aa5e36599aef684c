import type { ThinEventRow } from '../state/rows.ts'
import { relatedTo } from '../state/thin-events.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'

/** Why usage is dropped after it was taken, by Stripe's codes; such as `meter_event_customer_not_found`. */
export interface DroppedEvents {
  /** `meter_event_customer_not_found` unless told. With `no_meter` it is an event of another type. */
  readonly code?: string
  /** How many of them the report names; all unless told. Stripe names some, and counts all. */
  readonly named?: number
}

/** Takes a customer's usage out of the count, and writes the report that Stripe makes of it. */
export function dropMeterEvents(
  work: UnitOfWork,
  customer: string,
  { code = 'meter_event_customer_not_found', named }: DroppedEvents,
): ThinEventRow {
  const events = [...work.tables['billing.meter_event'].values()].filter(
    ({ $ }) => $.customer === customer && !$.cancelled,
  )
  for (const event of events) work.edit('billing.meter_event', event).$.cancelled = true
  const isUnknown = code === 'no_meter'
  const meter = events[0]?.$.meter ?? ''
  const at = new Date(work.sandboxNow * 1000).toISOString()
  const samples = events.slice(0, named ?? events.length).map(({ identifier }) => ({
    error_message: `The event could not be counted: ${code}`,
    request: { identifier },
  }))
  return work.insert('v2.core.event', {
    id: work.newId('evt_'),
    object: 'v2.core.event',
    type: `v1.billing.meter.${isUnknown ? 'no_meter_found' : 'error_report_triggered'}`,
    livemode: false,
    created: at,
    ...(isUnknown ? {} : relatedTo({ id: meter, object: 'billing.meter' })),
    data: {
      developer_message_summary: `There are ${events.length} invalid events`,
      reason: {
        error_count: events.length,
        error_types: [{ code, error_count: events.length, sample_errors: samples }],
      },
      validation_start: at,
      validation_end: at,
    },
  })
}

import { formatStripeV2Time } from '../api/v2.ts'
import type { ThinEventRow } from '../state/rows.ts'
import { buildRelatedObject } from '../state/thin-events.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'

/** Options of `dropMeterEvents()`, which simulates that usage is rejected after it was accepted. */
export interface DroppedEvents {
  /**
   * Stripe's error code for the rejected events. With `no_meter`, the error report is the event
   * `v1.billing.meter.no_meter_found`.
   * @default 'meter_event_customer_not_found'
   */
  readonly code?: string
  /**
   * Number of rejected events that the error report lists for each error code. Stripe counts all
   * events but lists only a sample. By default, all are listed.
   */
  readonly named?: number
}

/**
 * Removes all meter events of a customer from the usage, and creates Stripe's error report about
 * them.
 */
export function dropMeterEvents(
  work: UnitOfWork,
  customer: string,
  { code = 'meter_event_customer_not_found', named }: DroppedEvents,
): ThinEventRow {
  const events = [...work.tables['billing.meter_event'].values()].filter(
    ({ $ }) => $.customer === customer && !$.cancelled,
  )
  for (const event of events) work.edit('billing.meter_event', event).$.cancelled = true
  const dropped = events.map(({ identifier }) => ({
    identifier,
    code,
    message: `The event could not be counted: ${code}`,
  }))
  const meter = code === 'no_meter' ? null : (events[0]?.$.meter ?? '')
  return reportDroppedEvents(work, meter, dropped, named)
}

export interface DroppedEvent {
  readonly identifier: string
  readonly code: string
  readonly message: string
}

/**
 * Creates Stripe's error report about rejected meter events. `meter` is `null` if no meter has the
 * event name of these events.
 */
export function reportDroppedEvents(
  work: UnitOfWork,
  meter: string | null,
  dropped: readonly DroppedEvent[],
  maxNamedEvents = dropped.length,
): ThinEventRow {
  const at = formatStripeV2Time(work.sandboxNow)
  const codes = [...new Set(dropped.map(({ code }) => code))]
  return work.insert('v2.core.event', {
    id: work.newId('evt_'),
    object: 'v2.core.event',
    type: `v1.billing.meter.${meter === null ? 'no_meter_found' : 'error_report_triggered'}`,
    livemode: false,
    created: at,
    ...(meter === null ? {} : buildRelatedObject({ id: meter, object: 'billing.meter' })),
    data: {
      developer_message_summary: `There are ${dropped.length} invalid events`,
      reason: {
        error_count: dropped.length,
        error_types: codes.map((code) => {
          const alike = dropped.filter((each) => each.code === code)
          return {
            code,
            error_count: alike.length,
            sample_errors: alike.slice(0, maxNamedEvents).map(({ identifier, message }) => ({
              error_message: message,
              request: { identifier },
            })),
          }
        }),
      },
      validation_start: at,
      validation_end: at,
    },
  })
}

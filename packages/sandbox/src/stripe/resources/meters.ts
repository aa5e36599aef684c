import type Stripe from 'stripe'
import { listPage } from '../api/lists.ts'
import type { StripeOperations } from '../api/operation.ts'
import {
  changeOperation,
  createOperation,
  listOperation,
  retrieveOperation,
  updateOperation,
} from '../api/resource.ts'
import { aggregateMeterEvents, listMeterEvents } from '../catalog/usage.ts'
import { requireCustomer } from '../payments/customer.ts'
import { createBlankRow } from '../state/blank.ts'
import type { MeterRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { formatFixedPoint } from '../wire/decimals.ts'
import { createInvalidRequestFault } from '../wire/errors.ts'
import { pickSentFields } from '../wire/fields.ts'

/** Operations on meters. The operations on their events are in meter-events.ts. */
export const meterOperations: StripeOperations = {
  'Billing/Meters.create': createOperation('billing.meter', (params, { work }) => {
    const taken = work
      .findBy('billing.meter', 'event_name', params.event_name)
      .some((meter) => meter.status === 'active')
    if (taken) {
      throw createInvalidRequestFault(
        `An active meter already exists with event name '${params.event_name}'.`,
        'event_name',
        'resource_already_exists',
      )
    }
    return newMeter(work, params)
  }),

  'Billing/Meters.retrieve': retrieveOperation('billing.meter'),

  'Billing/Meters.update': updateOperation(
    'billing.meter',
    ['display_name'],
    (meter, params, { work }) => {
      if (params.display_name !== undefined) meter.updated = work.now
    },
  ),
  'Billing/Meters.list': listOperation('billing.meter'),
  'Billing/Meters.deactivate': changeOperation('billing.meter', (meter, _params, { work }) =>
    setStatus(work, meter, 'inactive'),
  ),
  'Billing/Meters.reactivate': changeOperation('billing.meter', (meter, _params, { work }) =>
    setStatus(work, meter, 'active'),
  ),
  'Billing/Meters.listEventSummaries': (params, { work, id, path }) => {
    const meter = work.require('billing.meter', id)
    requireCustomer(work, params.customer, 'customer')
    const rows = splitIntoWindows(params).map(([start, end]) => ({
      id: `mtrusg_test_${meter.id.slice(-8)}${start}${end}`,
      object: 'billing.meter_event_summary' as const,
      aggregated_value: Number(
        formatFixedPoint(
          aggregateMeterEvents(
            meter,
            listMeterEvents(work, meter, params.customer, { start, end }),
          ),
        ),
      ),
      end_time: end,
      livemode: false,
      meter: meter.id,
      start_time: start,
    }))
    return listPage(rows.reverse(), params, path, (row) => row)
  },
}

function newMeter(work: UnitOfWork, params: Stripe.Billing.MeterCreateParams): MeterRow {
  return {
    ...createBlankRow('billing.meter'),
    id: work.newId('mtr_test_', 22),
    created: work.now,
    customer_mapping: {
      event_payload_key: params.customer_mapping?.event_payload_key ?? 'stripe_customer_id',
      type: 'by_id',
    },
    default_aggregation: { formula: params.default_aggregation.formula },
    display_name: params.display_name,
    event_name: params.event_name,
    ...pickSentFields(params, 'event_time_window'),
    status: 'active',
    status_transitions: { deactivated_at: null },
    updated: work.now,
    value_settings: { event_payload_key: params.value_settings?.event_payload_key ?? 'value' },
  }
}

/** Creates a meter that adds up its events. */
export function createMeter(work: UnitOfWork, meter: { readonly eventName: string }): MeterRow {
  const params = {
    event_name: meter.eventName,
    display_name: meter.eventName,
    default_aggregation: { formula: 'sum' as const },
  }
  return work.insert('billing.meter', newMeter(work, params), 'billing.meter.created')
}

/** Activates or deactivates a meter. Usage counted so far remains. */
function setStatus(work: UnitOfWork, meter: MeterRow, status: MeterRow['status']): void {
  if (meter.status === status) throw createInvalidRequestFault(`This meter is already ${status}.`)
  meter.status = status
  const active = status === 'active'
  meter.status_transitions = { deactivated_at: active ? null : work.now }
  meter.updated = work.now
  work.emit(`billing.meter.${active ? 'reactivated' : 'deactivated'}`, 'billing.meter', meter)
}

const WINDOWS: Readonly<Record<string, readonly [seconds: number, name: string]>> = {
  hour: [3600, 'hour'],
  day: [86_400, 'UTC day'],
}
const MINUTE = [60, 'minute'] as const

/** Splits the requested range into hours or days, or returns it whole. */
function splitIntoWindows(
  params: Stripe.Billing.MeterListEventSummariesParams,
): Array<[start: number, end: number]> {
  const { start_time: start, end_time: end, value_grouping_window: by } = params
  const [size, name] = WINDOWS[by ?? ''] ?? MINUTE
  for (const [param, at] of [
    ['start_time', start],
    ['end_time', end],
  ] as const) {
    if (at % size === 0) continue
    throw createInvalidRequestFault(
      `The \`${param}\` must be aligned with ${name} boundaries.`,
      param,
    )
  }
  if (end <= start) {
    throw createInvalidRequestFault(
      'The `end_time` must be later than the `start_time`.',
      'end_time',
    )
  }
  if (by === undefined) return [[start, end]]
  const count = (end - start) / size
  if (count > 1000)
    throw createInvalidRequestFault('These are too many windows.', 'value_grouping_window')
  return Array.from({ length: count }, (_, at) => [start + at * size, start + (at + 1) * size])
}

import type Stripe from 'stripe'
import { filterRows, listPage } from '../api/lists.ts'
import { idOf, type Operations, op } from '../api/operation.ts'
import { aggregate, eventsOf } from '../catalog/meters.ts'
import { requireCustomer } from '../payments/customer.ts'
import { render } from '../state/render.ts'
import type { MeterRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { fromUnits } from '../wire/decimals.ts'
import { invalidRequest } from '../wire/errors.ts'

/** What counts usage. Its events are in meter-events.ts. */
export const meters: Operations = {
  'Billing/Meters.create': op<Stripe.Billing.MeterCreateParams>((params, { work }) => {
    const taken = work
      .findBy('billing.meter', 'event_name', params.event_name)
      .some((meter) => meter.status === 'active')
    if (taken) {
      throw invalidRequest(
        `An active meter already exists with event name '${params.event_name}'.`,
        'event_name',
        'resource_already_exists',
      )
    }
    const meter = work.insert(
      'billing.meter',
      {
        id: work.newId('mtr_test_', 22),
        object: 'billing.meter',
        created: work.now,
        customer_mapping: {
          event_payload_key: params.customer_mapping?.event_payload_key ?? 'stripe_customer_id',
          type: 'by_id',
        },
        default_aggregation: { formula: params.default_aggregation.formula },
        display_name: params.display_name,
        event_name: params.event_name,
        event_time_window: params.event_time_window ?? null,
        livemode: false,
        status: 'active',
        status_transitions: { deactivated_at: null },
        updated: work.now,
        value_settings: { event_payload_key: params.value_settings?.event_payload_key ?? 'value' },
      },
      'billing.meter.created',
    )
    return render('billing.meter', meter, work.tables)
  }),

  'Billing/Meters.retrieve': op((_params, call) =>
    render('billing.meter', call.work.require('billing.meter', idOf(call)), call.work.tables),
  ),

  'Billing/Meters.update': op<Stripe.Billing.MeterUpdateParams>((params, call) => {
    const { work } = call
    const meter = work.edit('billing.meter', work.require('billing.meter', idOf(call)))
    if (params.display_name !== undefined) {
      meter.display_name = params.display_name
      meter.updated = work.now
    }
    return render('billing.meter', meter, work.tables)
  }),

  'Billing/Meters.list': op<Stripe.Billing.MeterListParams>((params, { work, path }) => {
    const rows = filterRows(
      work.tables['billing.meter'].newestFirst(),
      (row) => params.status === undefined || row.status === params.status,
    )
    return listPage(rows, params, path, (row) => render('billing.meter', row, work.tables))
  }),

  'Billing/Meters.deactivate': op((_params, call) => setStatus(call.work, meterIdOf(call), false)),
  'Billing/Meters.reactivate': op((_params, call) => setStatus(call.work, meterIdOf(call), true)),

  'Billing/Meters.listEventSummaries': op<Stripe.Billing.MeterListEventSummariesParams>(
    (params, call) => {
      const { work } = call
      const meter = work.require('billing.meter', meterIdOf(call))
      requireCustomer(work, params.customer, 'customer')
      const rows = windowsOf(params).map(([start, end]) => ({
        id: `mtrusg_test_${meter.id.slice(-8)}${start}${end}`,
        object: 'billing.meter_event_summary' as const,
        aggregated_value: Number(
          fromUnits(aggregate(meter, eventsOf(work, meter, params.customer, { start, end }))),
        ),
        end_time: end,
        livemode: false,
        meter: meter.id,
        start_time: start,
      }))
      return listPage(rows.reverse(), params, call.path, (row) => row)
    },
  ),
}

function meterIdOf(call: { readonly ids: readonly string[] }): string {
  return call.ids[0] ?? ''
}

/** What it counted before stays counted. */
function setStatus(work: UnitOfWork, id: string, active: boolean) {
  const meter: MeterRow = work.edit('billing.meter', work.require('billing.meter', id))
  if ((meter.status === 'active') === active) {
    throw invalidRequest(`This meter is already ${active ? 'active' : 'inactive'}.`)
  }
  meter.status = active ? 'active' : 'inactive'
  meter.status_transitions = { deactivated_at: active ? null : work.now }
  meter.updated = work.now
  work.emit(`billing.meter.${active ? 'reactivated' : 'deactivated'}`, 'billing.meter', meter)
  return render('billing.meter', meter, work.tables)
}

const WINDOWS: Readonly<Record<string, readonly [seconds: number, name: string]>> = {
  hour: [3600, 'hour'],
  day: [86_400, 'UTC day'],
}
const MINUTE = [60, 'minute'] as const

/** The whole time asked for, or each hour or day of it. */
function windowsOf(
  params: Stripe.Billing.MeterListEventSummariesParams,
): Array<[start: number, end: number]> {
  const { start_time: start, end_time: end, value_grouping_window: by } = params
  const [size, name] = WINDOWS[by ?? ''] ?? MINUTE
  for (const [param, at] of [
    ['start_time', start],
    ['end_time', end],
  ] as const) {
    if (at % size === 0) continue
    throw invalidRequest(`The \`${param}\` must be aligned with ${name} boundaries.`, param)
  }
  if (end <= start) {
    throw invalidRequest('The `end_time` must be later than the `start_time`.', 'end_time')
  }
  if (by === undefined) return [[start, end]]
  const count = (end - start) / size
  if (count > 1000) throw invalidRequest('These are too many windows.', 'value_grouping_window')
  return Array.from({ length: count }, (_, at) => [start + at * size, start + (at + 1) * size])
}

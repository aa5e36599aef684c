import {
  defineStripeV2Operation,
  formatStripeV2Time,
  type NodeValue,
  readTimeV2,
  type StripeV2Operations,
} from '../api/v2.ts'
import { readClockTime } from '../state/context.ts'
import type { MeterEventRow } from '../state/rows.ts'
import { findTestClock } from '../state/test-clocks.ts'
import { sendThinEvent } from '../state/thin-events.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { createInvalidRequestFault, StripeFault } from '../wire/errors.ts'
import { type DroppedEvent, reportDroppedEvents } from './dropped-usage.ts'
import { cancelMeterEvent, createMeterEvent, findMeter } from './meter-events.ts'

/** Validity of a session token in seconds. */
const SESSION_SECONDS = 15 * 60
const DAY = 86_400
const MAX_EVENTS = 100
const EVENT = {
  o: { event_name: 's', identifier: 's', payload: { m: 's' }, timestamp: 's' },
  r: ['event_name', 'payload'],
} as const
const ADJUSTMENT = {
  o: {
    cancel: { o: { identifier: 's' }, r: ['identifier'] },
    event_name: 's',
    type: { e: ['cancel'] },
  },
  r: ['cancel', 'event_name', 'type'],
} as const

type NewEvent = NodeValue<typeof EVENT>

/**
 * Operations on meter events in the `/v2` API. A single event is validated immediately; errors in a
 * stream are reported by a thin event.
 */
export const meterEventV2Operations: StripeV2Operations = {
  'POST /v2/billing/meter_events': defineStripeV2Operation(EVENT, (params, { work }) => {
    const { created, event_name, identifier, payload, timestamp } = create(work, params, '')
    return {
      object: 'v2.billing.meter_event',
      created: formatStripeV2Time(created),
      event_name,
      identifier,
      livemode: false,
      payload,
      timestamp: formatStripeV2Time(timestamp),
    }
  }),
  'POST /v2/billing/meter_event_adjustments': defineStripeV2Operation(
    ADJUSTMENT,
    ({ cancel, event_name }, { work }) => {
      const { id, status, type } = cancelMeterEvent(work, event_name, cancel.identifier)
      return {
        id,
        object: 'v2.billing.meter_event_adjustment',
        cancel,
        created: formatStripeV2Time(work.sandboxNow),
        event_name,
        livemode: false,
        status,
        type,
      }
    },
  ),
  'POST /v2/billing/meter_event_session': defineStripeV2Operation(
    { o: {} },
    (_params, { work }) => {
      const { $, ...session } = work.insert('v2.billing.meter_event_session', {
        id: work.newId('mes_test_'),
        object: 'v2.billing.meter_event_session',
        authentication_token: work.newId('mes_token_', 40),
        created: formatStripeV2Time(work.sandboxNow),
        expires_at: formatStripeV2Time(work.sandboxNow + SESSION_SECONDS),
        livemode: false,
        $: { expires: work.sandboxNow + SESSION_SECONDS },
      })
      deleteOldSessions(work)
      return session
    },
  ),
  'POST /v2/billing/meter_event_stream': {
    isStream: true,
    ...defineStripeV2Operation(
      { o: { events: { a: EVENT } }, r: ['events'] },
      ({ events }, { work }) => {
        if (events.length === 0 || events.length > MAX_EVENTS) {
          throw createInvalidRequestFault(
            `\`events\` must hold 1 to ${MAX_EVENTS} events.`,
            'events',
          )
        }
        storeStream(work, events)
        return {}
      },
    ),
  },
}

/**
 * Deletes sessions one day after their expiry. Until then, calls with their token get an error
 * about the expiry.
 */
function deleteOldSessions(work: UnitOfWork): void {
  for (const session of work.tables['v2.billing.meter_event_session'].values()) {
    if (session.$.expires > work.sandboxNow - DAY) return
    work.remove('v2.billing.meter_event_session', session)
  }
}

/**
 * Stores the events of a stream. Stripe validates them asynchronously, so errors are reported by a
 * thin event instead of the response.
 */
function storeStream(work: UnitOfWork, events: readonly NewEvent[]): void {
  const dropped = new Map<string | null, DroppedEvent[]>()
  for (const [at, each] of events.entries()) {
    const event = { ...each, identifier: each.identifier ?? work.newId('meterevent_') }
    const refused = catchStripeFault(() => create(work, event, `events[${at}]`))
    if (!refused) continue
    const { code = 'meter_event_invalid_value', message } = refused.body
    // A malformed timestamp is an invalid request, as a field of the wrong type.
    if (code === 'invalid_fields') throw refused
    const meter = findMeter(work, event.event_name)?.id ?? null
    const others = dropped.get(meter) ?? []
    dropped.set(meter, [...others, { identifier: event.identifier, code, message }])
  }
  const reports = [...dropped].map(([meter, all]) => reportDroppedEvents(work, meter, all))
  for (const report of reports) sendThinEvent(work.context, report)
}

function catchStripeFault(run: () => unknown): StripeFault | null {
  try {
    run()
    return null
  } catch (error) {
    if (error instanceof StripeFault) return error
    throw error
  }
}

function create(work: UnitOfWork, { timestamp, ...event }: NewEvent, at: string): MeterEventRow {
  const param = at === '' ? 'timestamp' : `${at}[timestamp]`
  const time = timestamp === undefined ? {} : { timestamp: readTimeV2(timestamp, param) }
  return createMeterEvent(work, { ...event, ...time }, getCustomerClockTime(work, event.payload))
}

/** Returns the time of the clock of the customer named in the payload. */
function getCustomerClockTime(work: UnitOfWork, payload: NewEvent['payload']): number {
  const clocks = Object.values(payload).map((value) => findTestClock(work.tables, value))
  return readClockTime(work.context, clocks.find((clock) => clock !== null) ?? null)
}

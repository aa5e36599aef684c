import { type OperationsV2, opV2 } from '../api/calls-v2.ts'
import type { Node } from '../api/parameters.ts'
import { nowOf } from '../state/context.ts'
import type { MeterEventRow } from '../state/rows.ts'
import { clockAbout } from '../state/test-clocks.ts'
import { sendThinEvent } from '../state/thin-events.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { invalidRequest, StripeFault } from '../wire/errors.ts'
import { readTimeV2, timeV2 } from '../wire/times-v2.ts'
import { type DroppedEvent, reportDropped } from './dropped-usage.ts'
import { cancelMeterEvent, createMeterEvent, findMeter } from './meter-events.ts'

/** How long the token of a session is valid, in seconds. */
const SESSION = 15 * 60
const DAY = 86_400
const MOST_EVENTS = 100
const EVENT: Node = {
  o: { event_name: 's', identifier: 's', payload: { m: 's' }, timestamp: 's' },
  r: ['event_name', 'payload'],
}

interface NewEvent {
  readonly event_name: string
  readonly identifier?: string
  readonly payload: Readonly<Record<string, string>>
  readonly timestamp?: string
}

interface NewAdjustment {
  readonly cancel: { readonly identifier: string }
  readonly event_name: string
}

/** Usage as `/v2` takes it: one event with its refusal at once, or many whose refusals are reported by an event. */
export const meterEventsV2: OperationsV2 = {
  'POST /v2/billing/meter_events': {
    params: EVENT,
    run: opV2<NewEvent>((params, { work }) => {
      const { created, event_name, identifier, payload, timestamp } = create(work, params, '')
      return {
        object: 'v2.billing.meter_event',
        created: timeV2(created),
        event_name,
        identifier,
        livemode: false,
        payload,
        timestamp: timeV2(timestamp),
      }
    }),
  },
  'POST /v2/billing/meter_event_adjustments': {
    params: {
      o: {
        cancel: { o: { identifier: 's' }, r: ['identifier'] },
        event_name: 's',
        type: { e: ['cancel'] },
      },
      r: ['cancel', 'event_name', 'type'],
    },
    run: opV2<NewAdjustment>(({ cancel, event_name }, { work }) => {
      const { id, status, type } = cancelMeterEvent(work, event_name, cancel.identifier)
      return {
        id,
        object: 'v2.billing.meter_event_adjustment',
        cancel,
        created: timeV2(work.sandboxNow),
        event_name,
        livemode: false,
        status,
        type,
      }
    }),
  },
  'POST /v2/billing/meter_event_session': {
    params: { o: {} },
    run: opV2((_params, { work }) => {
      const { $, ...session } = work.insert('v2.billing.meter_event_session', {
        id: work.newId('mes_test_'),
        object: 'v2.billing.meter_event_session',
        authentication_token: work.newId('mes_token_', 40),
        created: timeV2(work.sandboxNow),
        expires_at: timeV2(work.sandboxNow + SESSION),
        livemode: false,
        $: { expires: work.sandboxNow + SESSION },
      })
      forgetOld(work)
      return session
    }),
  },
  'POST /v2/billing/meter_event_stream': {
    isStream: true,
    params: { o: { events: { a: EVENT } }, r: ['events'] },
    run: opV2<{ events: readonly NewEvent[] }>(({ events }, { work }) => {
      if (events.length === 0 || events.length > MOST_EVENTS) {
        throw invalidRequest(`\`events\` must hold 1 to ${MOST_EVENTS} events.`, 'events')
      }
      takeAll(work, events)
      return {}
    }),
  },
}

/** An expired token is known as such for a day. */
function forgetOld(work: UnitOfWork): void {
  for (const session of work.tables['v2.billing.meter_event_session'].values()) {
    if (session.$.expires > work.sandboxNow - DAY) return
    work.remove('v2.billing.meter_event_session', session)
  }
}

/** Stripe looks at the events of a stream later, so what is wrong with one is told by an event, not by the answer. */
function takeAll(work: UnitOfWork, events: readonly NewEvent[]): void {
  const dropped = new Map<string | null, DroppedEvent[]>()
  for (const [at, each] of events.entries()) {
    const event = { ...each, identifier: each.identifier ?? work.newId('meterevent_') }
    const refused = refusalOf(() => create(work, event, `events[${at}]`))
    if (!refused) continue
    const { code = 'meter_event_invalid_value', message } = refused.body
    // A time that cannot be read is a mistake of the call, as a field of another type.
    if (code === 'invalid_fields') throw refused
    const meter = findMeter(work, event.event_name)?.id ?? null
    const others = dropped.get(meter) ?? []
    dropped.set(meter, [...others, { identifier: event.identifier, code, message }])
  }
  const reports = [...dropped].map(([meter, all]) => reportDropped(work, meter, all))
  for (const report of reports) sendThinEvent(work.context, report)
}

function refusalOf(run: () => unknown): StripeFault | null {
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
  return createMeterEvent(work, { ...event, ...time }, nowFor(work, event.payload))
}

/** The time on the clock of the customer that a payload names. */
function nowFor(work: UnitOfWork, payload: NewEvent['payload']): number {
  const clocks = Object.values(payload).map((value) => clockAbout(work.tables, value))
  return nowOf(work.context, clocks.find((clock) => clock !== null) ?? null)
}

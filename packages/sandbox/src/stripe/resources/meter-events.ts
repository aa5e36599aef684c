import type { StripeOperations } from '../api/operation.ts'
import { renderRow } from '../state/render.ts'
import type { MeterEventAdjustmentRow, MeterEventRow, MeterRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { createInvalidRequestFault, createMissingParamFault, StripeFault } from '../wire/errors.ts'

const DAY = 86_400
/**
 * Time in seconds of the sandbox's clock during which an identifier must be unique and its event
 * can be cancelled.
 */
const IDENTIFIER_LIFETIME = DAY
const MAX_AGE = 35 * DAY
const CLOCK_TOLERANCE = 5 * 60
const MAX_DIGITS = 15

/**
 * Operations that report and cancel usage. The sandbox rejects invalid events immediately; Stripe
 * may report them hours later by an event.
 */
export const meterEventOperations: StripeOperations = {
  'Billing/MeterEvents.create': (params, { work }) =>
    renderRow('billing.meter_event', createMeterEvent(work, params), work.tables),

  'Billing/MeterEventAdjustments.create': (params, { work }) => {
    const identifier = params.cancel?.identifier
    if (identifier === undefined) {
      requireActiveMeter(work, params.event_name)
      throw createMissingParamFault('cancel[identifier]')
    }
    const adjustment = cancelMeterEvent(work, params.event_name, identifier)
    return renderRow('billing.meter_event_adjustment', adjustment, work.tables)
  },
}

interface NewMeterEvent {
  readonly event_name: string
  readonly identifier?: string
  readonly payload: Readonly<Record<string, string>>
  readonly timestamp?: number
}

/**
 * Validates and stores a meter event. `now` is the present time of the clock that the customer
 * follows.
 * @throws {StripeFault} If the event is invalid. Nothing is stored then.
 */
export function createMeterEvent(
  work: UnitOfWork,
  params: NewMeterEvent,
  now = work.now,
): MeterEventRow {
  const meter = requireActiveMeter(work, params.event_name)
  const identifier = params.identifier ?? work.newId('meterevent_')
  if (identifier.length > 100) {
    throw createInvalidRequestFault('Invalid string: must be at most 100 characters', 'identifier')
  }
  if (findRecentEvent(work, identifier)) {
    throw createInvalidRequestFault(
      `An event already exists with identifier ${identifier}.`,
      'identifier',
      'duplicate_meter_event',
    )
  }
  return work.insert('billing.meter_event', {
    id: work.newId('mtre_'),
    object: 'billing.meter_event',
    created: work.sandboxNow,
    event_name: meter.event_name,
    identifier,
    livemode: false,
    payload: { ...params.payload },
    timestamp: checkTimestamp(params.timestamp ?? now, now),
    $: {
      meter: meter.id,
      customer: readCustomer(work, meter, params.payload),
      value: readValue(work, meter, params.payload),
      cancelled: false,
    },
  })
}

/**
 * Cancels a meter event that arrived less than a day ago.
 * @throws {StripeFault} If there is no recent event with this identifier, or it is already
 * cancelled.
 */
export function cancelMeterEvent(
  work: UnitOfWork,
  name: string,
  identifier: string,
): MeterEventAdjustmentRow {
  const meter = requireActiveMeter(work, name)
  const event = findRecentEvent(work, identifier)
  if (!event || event.$.meter !== meter.id) {
    throw createInvalidRequestFault(
      `No event with identifier ${identifier} was received within the last 24 hours.`,
      'cancel[identifier]',
      'resource_missing',
    )
  }
  if (event.$.cancelled) {
    throw createInvalidRequestFault(
      `The event with identifier ${identifier} has already been cancelled.`,
      'cancel[identifier]',
    )
  }
  work.edit('billing.meter_event', event).$.cancelled = true
  return work.insert('billing.meter_event_adjustment', {
    id: work.newId('mtr_event_adj_'),
    object: 'billing.meter_event_adjustment',
    cancel: { identifier },
    event_name: meter.event_name,
    livemode: false,
    status: 'complete',
    type: 'cancel',
  })
}

/**
 * Finds the meter for an event name: the active meter, or an inactive one if no meter with this
 * name is active.
 */
export function findMeter(work: UnitOfWork, name: string): MeterRow | undefined {
  const known = work.findBy('billing.meter', 'event_name', name)
  return known.find((meter) => meter.status === 'active') ?? known[0]
}

function requireActiveMeter(work: UnitOfWork, name: string): MeterRow {
  const meter = findMeter(work, name)
  if (meter?.status === 'active') return meter
  throw createInvalidRequestFault(
    meter
      ? `The meter for event name '${name}' is inactive and accepts no events.`
      : `No meter was found for event name '${name}'.`,
    'event_name',
    meter ? 'archived_meter' : 'no_meter',
  )
}

function findRecentEvent(work: UnitOfWork, identifier: string) {
  return work
    .findBy('billing.meter_event', 'identifier', identifier)
    .find((event) => event.created > work.sandboxNow - IDENTIFIER_LIFETIME)
}

function checkTimestamp(timestamp: number, now: number): number {
  if (timestamp < now - MAX_AGE) {
    throw createInvalidRequestFault(
      'The timestamp is too far in the past: it must be within the past 35 calendar days.',
      'timestamp',
      'timestamp_too_far_in_past',
    )
  }
  if (timestamp > now + CLOCK_TOLERANCE) {
    throw createInvalidRequestFault(
      'The timestamp is in the future: it can be at most 5 minutes ahead.',
      'timestamp',
      'timestamp_in_future',
    )
  }
  return timestamp
}

function readCustomer(
  work: UnitOfWork,
  meter: MeterRow,
  payload: Readonly<Record<string, string>>,
): string {
  const key = meter.customer_mapping.event_payload_key
  const id = payload[key]
  if (id === undefined || id === '') {
    throw createInvalidRequestFault(
      `The payload must name the customer in \`${key}\`.`,
      `payload[${key}]`,
      'meter_event_no_customer_defined',
    )
  }
  const customer = work.find('customer', id)
  if (customer && !customer.$.deleted) return id
  throw new StripeFault(400, {
    type: 'invalid_request_error',
    code: 'meter_event_customer_not_found',
    message: `No such customer: '${id}'`,
    param: `payload[${key}]`,
  })
}

/** Returns the value of an event. A meter that counts events needs none. */
function readValue(
  work: UnitOfWork,
  meter: MeterRow,
  payload: Readonly<Record<string, string>>,
): string {
  const key = meter.value_settings.event_payload_key
  const value = payload[key]
  if (value === undefined && meter.default_aggregation.formula === 'count') return '1'
  if (value === undefined || !/^-?\d+(?:\.\d+)?$/.test(value)) {
    throw createInvalidRequestFault(
      `The payload must have a number in \`${key}\`.`,
      `payload[${key}]`,
      value === undefined ? 'meter_event_value_not_found' : 'meter_event_invalid_value',
    )
  }
  const [whole = '', fraction = ''] = value.replace('-', '').split('.')
  const significant = `${whole}${fraction}`.replace(/^0+/, '').length
  const isLong = significant > MAX_DIGITS && !work.supportsLegacyFeature('long-meter-values')
  if (isLong || fraction.length > 12 || whole.length > MAX_DIGITS) {
    throw createInvalidRequestFault(
      `The value in the event payload can have at most ${MAX_DIGITS} digits. Received ${value}.`,
      `payload[${key}]`,
      'meter_event_value_too_many_digits',
    )
  }
  return value
}

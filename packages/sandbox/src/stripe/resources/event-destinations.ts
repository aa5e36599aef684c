import {
  buildStripeV2List,
  createV2Fault,
  defineStripeV2Operation,
  formatStripeV2Time,
  type NodeValue,
  PAGE_PARAMS,
  type StripeV2Operations,
} from '../api/v2.ts'
import { findReceiver, sendToReceiver } from '../state/receivers.ts'
import type { EventDestinationRow, ThinEventRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { isReleased } from '../versions/versions.ts'
import { listAllowedValues } from '../wire/contract.ts'
import { createInvalidRequestFault } from '../wire/errors.ts'
import { mergeMetadata } from '../wire/fields.ts'
import { checkUrl } from './webhook-endpoints.ts'

const SECRET = 'webhook_endpoint.signing_secret'
const URL = 'webhook_endpoint.url'

const TARGET = { o: { url: 's' }, r: ['url'] } as const
const METADATA = { m: 's' } as const
const SHOWN = { include: { a: { e: [URL] } } } as const
const NEW = {
  o: {
    description: 's',
    enabled_events: { a: 's' },
    event_payload: { e: ['snapshot', 'thin'] },
    events_from: { a: 's' },
    include: { a: { e: [SECRET, URL] } },
    metadata: METADATA,
    name: 's',
    snapshot_api_version: 's',
    type: { e: ['amazon_eventbridge', 'azure_event_grid', 'webhook_endpoint'] },
    webhook_endpoint: TARGET,
  },
  r: ['enabled_events', 'event_payload', 'name', 'type'],
} as const
const CHANGES = {
  o: {
    ...SHOWN,
    description: { z: 's' },
    enabled_events: { a: 's' },
    metadata: METADATA,
    name: 's',
    webhook_endpoint: TARGET,
  },
} as const

const address = '/v2/core/event_destinations'

/**
 * Operations on event destinations, the webhook endpoints of the `/v2` API. Deliveries work as for
 * `/v1` endpoints.
 */
export const eventDestinationOperations: StripeV2Operations = {
  [`POST ${address}`]: defineStripeV2Operation(NEW, (params, { work }) =>
    render(create(work, params), params),
  ),
  [`GET ${address}`]: defineStripeV2Operation(
    { o: { ...PAGE_PARAMS, ...SHOWN } },
    (params, { work }) => {
      const { include = [] } = params
      const shown = include.map((field, at) => `${at === 0 ? '?' : '&'}include[]=${field}`)
      const rows = work.tables['v2.core.event_destination'].newestFirst()
      return buildStripeV2List(rows, params, `${address}${shown.join('')}`, (row) =>
        render(row, params),
      )
    },
  ),
  [`GET ${address}/:id`]: defineStripeV2Operation({ o: SHOWN }, (params, call) =>
    render(find(call), params),
  ),
  [`POST ${address}/:id`]: defineStripeV2Operation(CHANGES, (params, call) =>
    render(update(call.work, find(call), params), params),
  ),
  [`DELETE ${address}/:id`]: defineStripeV2Operation({ o: {} }, (_params, call) => {
    const row = find(call)
    call.work.remove('v2.core.event_destination', row)
    return { id: row.id, object: row.object }
  }),
  [`POST ${address}/:id/enable`]: defineStripeV2Operation({ o: {} }, (_params, call) => {
    const row = change(call.work, find(call))
    row.status = 'enabled'
    delete row.status_details
    return render(row, {})
  }),
  [`POST ${address}/:id/disable`]: defineStripeV2Operation({ o: {} }, (_params, call) => {
    const row = change(call.work, find(call))
    row.status = 'disabled'
    row.status_details = { disabled: { reason: 'user' } }
    return render(row, {})
  }),
  [`POST ${address}/:id/ping`]: defineStripeV2Operation({ o: {} }, (_params, call) =>
    ping(call.work, find(call)),
  ),
}

function find({ work, ids }: { work: UnitOfWork; ids: readonly string[] }): EventDestinationRow {
  const row = work.find('v2.core.event_destination', ids[0] ?? '')
  if (row) return row
  throw createV2Fault(404, 'not_found', `No such event destination: '${ids[0]}'`)
}

function create(work: UnitOfWork, params: NodeValue<typeof NEW>): EventDestinationRow {
  const { event_payload: payload, snapshot_api_version: version } = params
  if (params.type !== 'webhook_endpoint') {
    throw createInvalidRequestFault('The sandbox sends events to webhook endpoints only.', 'type')
  }
  if (!params.webhook_endpoint) {
    throw createInvalidRequestFault(
      '`webhook_endpoint` is required for this type.',
      'webhook_endpoint',
    )
  }
  if (params.events_from?.some((scope) => scope !== '@self' && scope !== 'self')) {
    throw createInvalidRequestFault(
      'The sandbox has one account: events are from `@self`.',
      'events_from',
    )
  }
  if (version !== undefined && payload === 'thin') {
    throw createInvalidRequestFault('Thin events have no version.', 'snapshot_api_version')
  }
  if (version !== undefined && !isReleased(version)) {
    throw createInvalidRequestFault(`There is no version ${version}.`, 'snapshot_api_version')
  }
  checkEventTypes(params.enabled_events, payload)
  const now = timeOf(work)
  return work.insert('v2.core.event_destination', {
    id: work.newId('ed_test_', 40),
    object: 'v2.core.event_destination',
    created: now,
    description: params.description ?? '',
    enabled_events: [...params.enabled_events],
    event_payload: payload,
    events_from: ['@self'],
    livemode: false,
    metadata: mergeMetadata({}, params.metadata),
    name: params.name,
    ...(payload === 'snapshot' ? { snapshot_api_version: version ?? work.context.apiVersion } : {}),
    status: 'enabled',
    type: 'webhook_endpoint',
    updated: now,
    $: {
      url: checkUrl(params.webhook_endpoint.url, 'webhook_endpoint[url]'),
      secret: work.newId('whsec_', 32),
    },
  })
}

function update(
  work: UnitOfWork,
  row: EventDestinationRow,
  params: NodeValue<typeof CHANGES>,
): EventDestinationRow {
  change(work, row)
  const { name = row.name, description = row.description } = params
  Object.assign(row, { name, description })
  if (params.enabled_events !== undefined) {
    checkEventTypes(params.enabled_events, row.event_payload)
    row.enabled_events = [...params.enabled_events]
  }
  if (params.webhook_endpoint) {
    row.$ = { ...row.$, url: checkUrl(params.webhook_endpoint.url, 'webhook_endpoint[url]') }
  }
  row.metadata = mergeMetadata(row.metadata, params.metadata)
  return row
}

function change(work: UnitOfWork, row: EventDestinationRow): EventDestinationRow {
  work.edit('v2.core.event_destination', row).updated = timeOf(work)
  return row
}

function timeOf({ sandboxNow }: UnitOfWork): string {
  return formatStripeV2Time(sandboxNow)
}

/** Renders a destination. The URL and, on creation, the secret are included only on request. */
function render(
  { $, ...row }: EventDestinationRow,
  { include = [] }: { readonly include?: readonly string[] },
): object {
  return {
    ...row,
    webhook_endpoint: {
      ...(include.includes(SECRET) ? { signing_secret: $.secret } : {}),
      ...(include.includes(URL) ? { url: $.url } : {}),
    },
  }
}

/** Sends a test event to the destination, whatever event types it subscribes to. */
function ping(work: UnitOfWork, row: EventDestinationRow): ThinEventRow {
  const receiver = findReceiver(work.tables, row.id)
  if (!receiver?.isEnabled)
    throw createInvalidRequestFault('A disabled event destination cannot be pinged.')
  const event = work.insert('v2.core.event', {
    id: work.newId('evt_test_'),
    object: 'v2.core.event',
    type: 'v2.core.event_destination.ping',
    livemode: false,
    created: timeOf(work),
    related_object: { id: row.id, type: row.object, url: `${address}/${row.id}` },
  })
  sendToReceiver(work.context, receiver, event, JSON.stringify(event))
  return event
}

/** Thin events without a corresponding snapshot event. */
const THIN_ONLY = ['v1.billing.meter.error_report_triggered', 'v1.billing.meter.no_meter_found']

/** Rejects event types that do not exist in this payload format. */
function checkEventTypes(types: readonly string[], payload: 'snapshot' | 'thin'): void {
  if (types.length === 0) {
    throw createInvalidRequestFault(
      '`enabled_events` must name at least one event.',
      'enabled_events',
    )
  }
  for (const [at, type] of types.entries()) {
    const isKnown = payload === 'snapshot' ? SNAPSHOTS.has(type) : isThin(type)
    if (type === '*' || isKnown) continue
    throw createInvalidRequestFault(
      `Events of type '${type}' are not sent as ${payload} events.`,
      `enabled_events[${at}]`,
    )
  }
}

function isThin(type: string): boolean {
  return (
    THIN_ONLY.includes(type) ||
    type.startsWith('v2.core.event_destination.') ||
    (type.startsWith('v1.') && SNAPSHOTS.has(type.slice('v1.'.length)))
  )
}

/** Event types of snapshot events, as the contract lists them for webhook endpoints. */
const SNAPSHOTS: ReadonlySet<string> = new Set(
  listAllowedValues('WebhookEndpoints.create', 'enabled_events'),
)

import { faultV2, type OperationsV2, opV2 } from '../api/calls-v2.ts'
import { listV2, PAGE_PARAMS, type PageParamsV2 } from '../api/pages-v2.ts'
import type { Node } from '../api/parameters.ts'
import { findReceiver, sendTo } from '../state/receivers.ts'
import type { EventDestinationRow, ThinEventRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { isReleased } from '../versions/versions.ts'
import { invalidRequest } from '../wire/errors.ts'
import { mergeMetadata } from '../wire/metadata.ts'
import { timeV2 } from '../wire/times-v2.ts'
import { checkEventTypes } from './event-types.ts'
import { checkUrl } from './webhook-endpoints.ts'

const SECRET = 'webhook_endpoint.signing_secret'
const URL = 'webhook_endpoint.url'

const included = (...fields: string[]): Node => ({ a: { e: fields } })
const TARGET: Node = { o: { url: 's' }, r: ['url'] }
const METADATA: Node = { m: 's' }

interface NewDestination {
  readonly name: string
  readonly type: string
  readonly enabled_events: string[]
  readonly event_payload: 'snapshot' | 'thin'
  readonly description?: string
  readonly events_from?: string[]
  readonly include?: readonly string[]
  readonly metadata?: Record<string, string>
  readonly snapshot_api_version?: string
  readonly webhook_endpoint?: { readonly url: string }
}
type Changes = Partial<
  Pick<
    NewDestination,
    'name' | 'description' | 'enabled_events' | 'include' | 'metadata' | 'webhook_endpoint'
  >
>
type Asked = Pick<NewDestination, 'include'>

const address = '/v2/core/event_destinations'

/** Where events go, as `/v2` has it. What is sent there is sent as to webhook endpoints. */
export const eventDestinations: OperationsV2 = {
  [`POST ${address}`]: {
    params: {
      o: {
        description: 's',
        enabled_events: { a: 's' },
        event_payload: { e: ['snapshot', 'thin'] },
        events_from: { a: 's' },
        include: included(SECRET, URL),
        metadata: METADATA,
        name: 's',
        snapshot_api_version: 's',
        type: { e: ['amazon_eventbridge', 'azure_event_grid', 'webhook_endpoint'] },
        webhook_endpoint: TARGET,
      },
      r: ['enabled_events', 'event_payload', 'name', 'type'],
    },
    run: opV2<NewDestination>((params, { work }) => render(create(work, params), params)),
  },
  [`GET ${address}`]: {
    params: { o: { ...PAGE_PARAMS, include: included(URL) } },
    run: opV2<Asked & PageParamsV2>((params, { work }) => {
      const { include = [] } = params
      const shown = include.map((field, at) => `${at === 0 ? '?' : '&'}include[]=${field}`)
      const rows = work.tables['v2.core.event_destination'].newestFirst()
      return listV2(rows, params, `${address}${shown.join('')}`, (row) => render(row, params))
    }),
  },
  [`GET ${address}/:id`]: {
    params: { o: { include: included(URL) } },
    run: opV2<Asked>((params, call) => render(find(call), params)),
  },
  [`POST ${address}/:id`]: {
    params: {
      o: {
        description: { z: 's' },
        enabled_events: { a: 's' },
        include: included(URL),
        metadata: METADATA,
        name: 's',
        webhook_endpoint: TARGET,
      },
    },
    run: opV2<Changes>((params, call) => render(update(call.work, find(call), params), params)),
  },
  [`DELETE ${address}/:id`]: {
    params: { o: {} },
    run: opV2((_params, call) => {
      const row = find(call)
      call.work.remove('v2.core.event_destination', row)
      return { id: row.id, object: row.object }
    }),
  },
  [`POST ${address}/:id/enable`]: {
    params: { o: {} },
    run: opV2((_params, call) => {
      const row = change(call.work, find(call))
      row.status = 'enabled'
      delete row.status_details
      return render(row, {})
    }),
  },
  [`POST ${address}/:id/disable`]: {
    params: { o: {} },
    run: opV2((_params, call) => {
      const row = change(call.work, find(call))
      row.status = 'disabled'
      row.status_details = { disabled: { reason: 'user' } }
      return render(row, {})
    }),
  },
  [`POST ${address}/:id/ping`]: {
    params: { o: {} },
    run: opV2((_params, call) => ping(call.work, find(call))),
  },
}

function find({ work, ids }: { work: UnitOfWork; ids: readonly string[] }): EventDestinationRow {
  const row = work.find('v2.core.event_destination', ids[0] ?? '')
  if (row) return row
  throw faultV2(404, 'not_found', `No such event destination: '${ids[0]}'`)
}

function create(work: UnitOfWork, params: NewDestination): EventDestinationRow {
  const { event_payload: payload, snapshot_api_version: version } = params
  if (params.type !== 'webhook_endpoint') {
    throw invalidRequest('The sandbox sends events to webhook endpoints only.', 'type')
  }
  if (!params.webhook_endpoint) {
    throw invalidRequest('`webhook_endpoint` is required for this type.', 'webhook_endpoint')
  }
  if (params.events_from?.some((scope) => scope !== '@self' && scope !== 'self')) {
    throw invalidRequest('The sandbox has one account: events are from `@self`.', 'events_from')
  }
  if (version !== undefined && payload === 'thin') {
    throw invalidRequest('Thin events have no version.', 'snapshot_api_version')
  }
  if (version !== undefined && !isReleased(version)) {
    throw invalidRequest(`There is no version ${version}.`, 'snapshot_api_version')
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

function update(work: UnitOfWork, row: EventDestinationRow, params: Changes): EventDestinationRow {
  change(work, row)
  if (params.name !== undefined) row.name = params.name
  if (params.description !== undefined) row.description = params.description
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
  return timeV2(sandboxNow)
}

/** The address and, this once, the secret are told to those who ask. */
function render({ $, ...row }: EventDestinationRow, { include = [] }: Asked): object {
  return {
    ...row,
    webhook_endpoint: {
      ...(include.includes(SECRET) ? { signing_secret: $.secret } : {}),
      ...(include.includes(URL) ? { url: $.url } : {}),
    },
  }
}

/** Whatever it asked for: somebody wants to see whether anything arrives. */
function ping(work: UnitOfWork, row: EventDestinationRow): ThinEventRow {
  const receiver = findReceiver(work.tables, row.id)
  if (!receiver?.isEnabled) {
    throw invalidRequest('A disabled event destination cannot be pinged.')
  }
  const event = work.insert('v2.core.event', {
    id: work.newId('evt_test_'),
    object: 'v2.core.event',
    type: 'v2.core.event_destination.ping',
    livemode: false,
    created: timeOf(work),
    related_object: { id: row.id, type: row.object, url: `${address}/${row.id}` },
  })
  sendTo(work.context, receiver, event, JSON.stringify(event))
  return event
}

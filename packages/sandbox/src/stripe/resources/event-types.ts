import { NODES, ROUTES } from '../wire/contract.generated.ts'
import { invalidRequest } from '../wire/errors.ts'

/** Thin events that are no twin of a snapshot. */
const THIN_ONLY = ['v1.billing.meter.error_report_triggered', 'v1.billing.meter.no_meter_found']

/** Refuses types that nobody ever sends in that form. */
export function checkEventTypes(types: readonly string[], payload: 'snapshot' | 'thin'): void {
  if (types.length === 0) {
    throw invalidRequest('`enabled_events` must name at least one event.', 'enabled_events')
  }
  for (const [at, type] of types.entries()) {
    const isKnown = payload === 'snapshot' ? SNAPSHOTS.has(type) : isThin(type)
    if (type === '*' || isKnown) continue
    throw invalidRequest(
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

/** As the contract lists them for webhook endpoints. */
const SNAPSHOTS: ReadonlySet<string> = new Set(snapshotTypes())

function snapshotTypes(): readonly string[] {
  const route = ROUTES.find(([, , operation]) => operation === 'WebhookEndpoints.create')
  const params = NODES[route?.[3] ?? -1] as { o: Record<string, number> } | undefined
  const list = NODES[params?.o.enabled_events ?? -1] as { a: number } | undefined
  const types = NODES[list?.a ?? -1] as { e: readonly string[] } | undefined
  if (!types) throw new Error('The contract lists no events')
  return types.e
}

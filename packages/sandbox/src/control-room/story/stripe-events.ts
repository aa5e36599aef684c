import type { StripeContext } from '../../stripe/state/context.ts'
import type { WireObject } from '../../stripe/wire/wire-object.ts'

/** An event with its object read. */
export interface SeenEvent {
  readonly id: string
  readonly type: string
  /** Epoch seconds, on the clock that its customer lives by. */
  readonly created: number
  readonly object: WireObject
  /** The old values of what changed. */
  readonly previous: Readonly<Record<string, unknown>> | null
  /** The call that caused it; null when time did. */
  readonly request: string | null
}

export interface EventFilter {
  /** Only those whose text has this in it: cheap, before anything is read. */
  readonly mentions?: string
  readonly type?: string
  readonly keep?: (event: SeenEvent) => boolean
  readonly most: number
}

/** Events, newest first. Stripe keeps them for 30 days. */
export function readEvents(context: StripeContext, filter: EventFilter): SeenEvent[] {
  const found: SeenEvent[] = []
  for (const row of context.tables.event.newestFirst()) {
    if (found.length >= filter.most) break
    if (filter.type !== undefined && !row.type.startsWith(filter.type)) continue
    const { data } = row
    if (filter.mentions !== undefined && !data.includes(filter.mentions)) continue
    const event: SeenEvent = {
      id: row.id,
      type: row.type,
      created: row.at ?? row.created,
      object: JSON.parse(data) as WireObject,
      previous: row.previous === null ? null : (JSON.parse(row.previous) as SeenEvent['previous']),
      request: row.request?.id ?? null,
    }
    if (filter.keep?.(event) ?? true) found.push(event)
  }
  return found
}

/** What happened to one customer. */
export function isAbout(customer: string): (event: SeenEvent) => boolean {
  return ({ object }) => object.id === customer || object.customer === customer
}

import { type Change, diffObjects, undo } from './diff.ts'
import { readEvents, type SeenEvent } from './stripe-events.ts'
import type { Watched } from './watched.ts'

/** One version of an object, and what made it differ from the one before. */
export interface Version {
  /** ISO 8601. */
  readonly at: string
  /** The event, or at Braintree where the status came from. */
  readonly cause: string
  readonly eventId: string | null
  readonly changes: readonly Change[]
}

const MOST_VERSIONS = 200

/** The versions that are still known, newest first. */
export function historyOf(watched: Watched, found: { id: string; object?: unknown }): Version[] {
  const { stripe } = watched
  const filter = {
    mentions: found.id,
    keep: ({ object }: SeenEvent) => object.id === found.id,
    most: MOST_VERSIONS,
  }
  const events = stripe ? readEvents(stripe.context, filter).reverse() : []
  const versions = events.length > 0 ? fromEvents(events) : fromStatuses(found.object)
  return versions.reverse()
}

/** Events of one moment tell of one version; only those with a change are of interest. */
function fromEvents(events: readonly SeenEvent[]): Version[] {
  return events.map((event, index) => {
    const last = events[index - 1]
    const before = last?.object ?? (event.previous ? undo(event.object, event.previous) : null)
    return {
      at: new Date(event.created * 1000).toISOString(),
      cause: event.type,
      eventId: event.id,
      changes: before === null ? [] : diffObjects(before, event.object),
    }
  })
}

type StatusEvent = Readonly<Record<string, unknown>> & { readonly timestamp: number }

function fromStatuses(object: unknown): Version[] {
  const { statusHistory } = (object ?? {}) as { statusHistory?: readonly StatusEvent[] }
  const history = [...(statusHistory ?? [])].sort((a, b) => a.timestamp - b.timestamp)
  return history.map((event, index) => {
    const { timestamp, ...now } = event
    const { timestamp: _at, ...before } = history[index - 1] ?? event
    return {
      at: new Date(timestamp).toISOString(),
      cause: index === 0 ? 'created' : String(now.source ?? now.status),
      eventId: null,
      changes: diffObjects(before, now),
    }
  })
}

import { KINDS } from '../../braintree/state/context.ts'
import { type Change, diffObjects, undo } from './diff.ts'
import type { FoundObject } from './find-object.ts'
import { allMerchants } from './merchants.ts'
import { readEvents, type SeenEvent } from './stripe-events.ts'
import type { Watched } from './watched.ts'

/** One version of an object, and what made it differ from the one before. */
export interface Version {
  /** ISO 8601. */
  readonly at: string
  /** The event, or at Braintree the call or what fell due. */
  readonly cause: string
  readonly eventId: string | null
  readonly changes: readonly Change[]
  /** It ended with this one. */
  readonly isEnd: boolean
}

/** An object as it was at one moment, and who says so. */
interface Sight {
  readonly at: number
  readonly cause: string
  readonly eventId: string | null
  /** Null when it was deleted. */
  readonly object: Readonly<Record<string, unknown>> | null
  /** The old values of what changed, where they are told. */
  readonly previous: Readonly<Record<string, unknown>> | null
}

const MOST_VERSIONS = 200

export interface Whose {
  readonly id: string
  readonly merchant: string | null
  readonly found: FoundObject | null
}

export interface History {
  /** Newest first. */
  readonly versions: readonly Version[]
  /** The object as it was last seen; null when it never was. */
  readonly last: Readonly<Record<string, unknown>> | null
}

/** The versions that are still known: as events tell at Stripe, as they were kept at Braintree. */
export function historyOf(watched: Watched, whose: Whose): History {
  const told = fromEvents(watched, whose.id)
  const seen = told.length > 0 ? told : fromLog(watched, whose)
  const first = seen[0]?.at ?? Number.POSITIVE_INFINITY
  const before = fromStatuses(whose.found?.object).filter(({ at }) => Date.parse(at) < first)
  const versions = [...before, ...toVersions(seen)].slice(-MOST_VERSIONS).reverse()
  return { versions, last: seen.findLast(({ object }) => object !== null)?.object ?? null }
}

/** Each beside the one before it. */
function toVersions(seen: readonly Sight[]): Version[] {
  return seen.map(({ at, cause, eventId, object, previous }, index) => {
    const last = seen[index - 1]?.object
    const before = last ?? (previous && object ? undo(object, previous) : null)
    return {
      at: new Date(at).toISOString(),
      cause,
      eventId,
      changes: before && object ? diffObjects(before, object) : [],
      isEnd: object === null,
    }
  })
}

function fromEvents({ stripe }: Watched, id: string): Sight[] {
  const filter = {
    mentions: id,
    keep: ({ object }: SeenEvent) => object.id === id,
    most: MOST_VERSIONS,
  }
  const events = stripe ? readEvents(stripe.context, filter).reverse() : []
  return events.map((event) => ({
    at: event.created * 1000,
    cause: event.type,
    eventId: event.id,
    object: event.object,
    previous: event.previous,
  }))
}

function fromLog(watched: Watched, { id, merchant, found }: Whose): Sight[] {
  for (const { name, context } of allMerchants(watched)) {
    if (merchant !== null && merchant !== name) continue
    for (const kind of KINDS) {
      if (found && (found.kind !== kind || found.merchant !== name)) continue
      const rows = context.versions?.versionsOf(kind, id) ?? []
      if (rows.length === 0) continue
      return rows.map(({ at, cause, text }) => ({
        at,
        cause,
        eventId: null,
        object: text === null ? null : withoutDates(JSON.parse(text) as Record<string, unknown>),
        previous: null,
      }))
    }
  }
  return []
}

/** That it changed, and when, is what a version says anyway. */
function withoutDates(row: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { statusHistory: _history, updatedAt: _at, ...rest } = row
  return rest
}

type StatusEvent = Readonly<Record<string, unknown>> & { readonly timestamp: number }

/** What Braintree's objects tell of the time before anybody looked. */
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
      isEnd: false,
    }
  })
}

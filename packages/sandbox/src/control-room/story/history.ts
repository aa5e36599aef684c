import { VERSIONED_OBJECT_KINDS } from '../../braintree/state/context.ts'
import { type ChangedField, diffObjects, undoChanges } from './diff.ts'
import type { FoundObject } from './find-object.ts'
import { listMerchants } from './merchants.ts'
import type { ObservedSandbox } from './observed-sandbox.ts'
import { type ParsedStripeEvent, readEvents } from './stripe-events.ts'

/** A version of an object, with its differences from the previous version. */
export interface ObjectVersion {
  /** Time of the change in ISO 8601 format. */
  readonly at: string
  /** Cause of the change: the event at Stripe, the API call or due job at Braintree. */
  readonly cause: string
  readonly eventId: string | null
  readonly changes: readonly ChangedField[]
  /** Whether the object was deleted by this change. */
  readonly isEnd: boolean
}

/** An object at one moment, and the source of the information. */
interface ObjectObservation {
  readonly at: number
  readonly cause: string
  readonly eventId: string | null
  /** The object. `null` if it was deleted. */
  readonly object: Readonly<Record<string, unknown>> | null
  /** Old values of the changed fields, if they are known. */
  readonly previous: Readonly<Record<string, unknown>> | null
}

const MAX_VERSIONS = 200

export interface HistoryQuery {
  readonly id: string
  readonly merchant: string | null
  readonly found: FoundObject | null
}

export interface ObjectHistory {
  /** Known versions of the object, newest first. */
  readonly versions: readonly ObjectVersion[]
  /** The last known version of the object. `null` if no version is known. */
  readonly last: Readonly<Record<string, unknown>> | null
}

/**
 * Returns the known versions of an object. At Stripe they are read from the events, at Braintree
 * from the sandbox's version log.
 */
export function readObjectHistory(
  sandbox: ObservedSandbox,
  historyQuery: HistoryQuery,
): ObjectHistory {
  const told = readEventVersions(sandbox, historyQuery.id)
  const seen = told.length > 0 ? told : readLoggedVersions(sandbox, historyQuery)
  const first = seen[0]?.at ?? Number.POSITIVE_INFINITY
  const before = readStatusVersions(historyQuery.found?.object).filter(
    ({ at }) => Date.parse(at) < first,
  )
  const versions = [...before, ...toVersions(seen)].slice(-MAX_VERSIONS).reverse()
  return { versions, last: seen.findLast(({ object }) => object !== null)?.object ?? null }
}

/** Compares each version with the previous one. */
function toVersions(objectObservations: readonly ObjectObservation[]): ObjectVersion[] {
  return objectObservations.map(({ at, cause, eventId, object, previous }, index) => {
    const last = objectObservations[index - 1]?.object
    const before = last ?? (previous && object ? undoChanges(object, previous) : null)
    return {
      at: new Date(at).toISOString(),
      cause,
      eventId,
      changes: before && object ? diffObjects(before, object) : [],
      isEnd: object === null,
    }
  })
}

function readEventVersions({ stripe }: ObservedSandbox, id: string): ObjectObservation[] {
  const filter = {
    mentions: id,
    keep: ({ object }: ParsedStripeEvent) => object.id === id,
    most: MAX_VERSIONS,
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

function readLoggedVersions(
  sandbox: ObservedSandbox,
  { id, merchant, found }: HistoryQuery,
): ObjectObservation[] {
  for (const { name, context } of listMerchants(sandbox)) {
    if (merchant !== null && merchant !== name) continue
    for (const kind of VERSIONED_OBJECT_KINDS) {
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

/** Removes the time of the last change, which every version has anyway. */
function withoutDates(row: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { statusHistory: _history, updatedAt: _at, ...rest } = row
  return rest
}

type StatusEvent = Readonly<Record<string, unknown>> & { readonly timestamp: number }

/**
 * Returns versions from the status history of a Braintree object, for the time before versions were
 * recorded.
 */
function readStatusVersions(object: unknown): ObjectVersion[] {
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

import type { StripeContext } from '../../stripe/state/context.ts'
import type { WireObject } from '../../stripe/wire/wire-object.ts'

/** A Stripe event whose object is parsed. */
export interface ParsedStripeEvent {
  readonly id: string
  readonly type: string
  /** Time of the event in Unix seconds, on the clock that the customer follows. */
  readonly created: number
  readonly object: Readonly<WireObject>
  /**
   * Old values of the changed fields (`previous_attributes`). `null` if the event reports no
   * change.
   */
  readonly previous: Readonly<Record<string, unknown>> | null
  /** Id of the API request that caused the event. `null` if the clock caused it. */
  readonly request: string | null
}

export interface EventFilter {
  /** Restricts the result to events whose JSON contains this text as a string. */
  readonly mentions?: string
  readonly type?: string
  readonly keep?: (event: ParsedStripeEvent) => boolean
  readonly most: number
}

/**
 * Returns the stored Stripe events that match the filter, newest first. Events are stored for 30
 * days.
 */
export function readEvents(context: StripeContext, filter: EventFilter): ParsedStripeEvent[] {
  const found: ParsedStripeEvent[] = []
  for (const row of context.tables.event.newestFirst()) {
    if (found.length >= filter.most) break
    if (filter.type !== undefined && !row.type.startsWith(filter.type)) continue
    const { data, previous } = row
    if (filter.mentions !== undefined && !isMentioned(filter.mentions, data)) continue
    const event: ParsedStripeEvent = {
      id: row.id,
      type: row.type,
      created: row.at ?? row.created,
      object: data,
      previous,
      request: row.request?.id ?? null,
    }
    if (filter.keep?.(event) ?? true) found.push(event)
  }
  return found
}

function isMentioned(text: string, value: unknown): boolean {
  if (value === text) return true
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).some((each) => isMentioned(text, each))
}

/** Returns a filter that accepts the events about one customer. */
export function createCustomerEventFilter(customer: string): (event: ParsedStripeEvent) => boolean {
  return ({ object }) => object.id === customer || object.customer === customer
}

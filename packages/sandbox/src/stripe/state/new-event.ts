import type { WireObject } from '../wire/wire-object.ts'
import type { EventRow } from './rows.ts'

/** The call that caused an event; null when time did. */
export interface EventRequest {
  readonly id: string
  readonly idempotencyKey: string | null
}

export interface NewEvent {
  readonly type: string
  /** The object it is about, as it is sent. Nobody changes it any more. */
  readonly data: Readonly<WireObject>
  /** What the changed fields were before. */
  readonly previous: Readonly<Record<string, unknown>> | null
}

/** What an event tells, to read only. */
export function toldBy({ data, previous }: EventRow): Pick<NewEvent, 'data' | 'previous'> {
  return { data: readTold(data) as WireObject, previous: readTold(previous) }
}

/** In state files of before they are texts. */
function readTold<T>(told: T | string): T {
  return typeof told === 'string' ? (JSON.parse(told) as T) : told
}

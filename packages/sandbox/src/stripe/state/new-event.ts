import type { WireObject } from '../wire/wire-object.ts'

/** The API call that caused an event, with its idempotency key. `null` if time caused the event. */
export interface EventRequest {
  readonly id: string
  readonly idempotencyKey: string | null
}

export interface NewEvent {
  readonly type: string
  /** The rendered object. Never changed afterwards. */
  readonly data: Readonly<WireObject>
  /** Previous values of the changed fields. */
  readonly previous: Readonly<Record<string, unknown>> | null
}

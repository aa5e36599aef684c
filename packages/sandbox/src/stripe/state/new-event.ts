import type { WireObject } from '../wire/wire-object.ts'

/** The API request that caused an event, with its idempotency key. */
export interface EventRequest {
  readonly id: string
  readonly idempotencyKey: string | null
}

export interface NewEvent {
  readonly type: string
  /** The rendered object that the event is about. Never changed afterwards. */
  readonly data: Readonly<WireObject>
  /**
   * Old values of the fields that changed (`previous_attributes`). `null` if the event reports no
   * change.
   */
  readonly previous: Readonly<Record<string, unknown>> | null
}

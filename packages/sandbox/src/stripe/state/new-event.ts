import type { WireObject } from '../wire/wire-object.ts'

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

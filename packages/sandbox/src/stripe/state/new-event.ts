import type { Packed } from '../../core/store/packer.ts'

/** The call that caused an event; null when time did. */
export interface EventRequest {
  readonly id: string
  readonly idempotencyKey: string | null
}

export interface NewEvent {
  readonly type: string
  /** The object it is about, packed as `packers.shown` does. */
  readonly data: Packed
  /** JSON of what the changed fields were before. */
  readonly previous: string | null
}

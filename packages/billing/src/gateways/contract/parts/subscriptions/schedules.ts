import type { WantedItem } from '../../item.ts'

/** A change that comes later. */
export interface PlannedSwap {
  /** All prices from then on, the main one first. */
  readonly items: readonly WantedItem[]
  /** When. */
  readonly at: Date
}

/** A change to be planned. */
export interface NewPlannedSwap {
  /** All prices from then on, the main one first. */
  readonly items: readonly WantedItem[]
  /** When. */
  readonly at: 'period_end' | Date
  /** The operation it belongs to: a repeat goes on with the same plan. */
  readonly operation: string
}

/** Changes at a later date. */
export interface Schedules {
  /** What is planned; null for nothing. */
  find(id: string): Promise<PlannedSwap | null>
  /** Takes the place of what was planned before. */
  plan(id: string, swap: NewPlannedSwap): Promise<void>
  /** Forgets what is planned; the subscription goes on as it is. */
  release(id: string): Promise<void>
  /** Bills from that moment on, in the same rhythm. */
  moveAnchor(id: string, to: 'now' | Date, operation: string): Promise<void>
}

import type { StoreSnapshot } from './store.ts'

/** Everything a sandbox knows, as plain JSON in memory. The state file holds the same line by line. */
export interface SandboxSnapshot {
  /** Of this shape. */
  readonly version: 1
  /** The clock, as ISO 8601. */
  readonly now: string
  /** All the rest. */
  readonly store: StoreSnapshot
}

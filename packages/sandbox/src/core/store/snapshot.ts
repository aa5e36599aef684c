import type { StoreSnapshot } from './store.ts'

/** Everything a sandbox knows, as plain JSON in memory. Files hold the same line by line. */
export interface SandboxSnapshot {
  readonly version: 1
  /** The clock, as ISO 8601. */
  readonly now: string
  readonly store: StoreSnapshot
}

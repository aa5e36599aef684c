import type { StoreSnapshot } from './store.ts'

/**
 * Of the rows in state files and snapshots. Raised when a row changes so that one written before would be read wrongly: what has
 * another number is refused, never half-read. test/kept-format.test.ts keeps a file of this format.
 */
export const STATE_FORMAT = 3

/** Everything a sandbox knows, as plain JSON in memory. The state file holds the same line by line. */
export interface SandboxSnapshot {
  /** The format: what another build wrote in another one is refused. */
  readonly version: number
  /** The clock, as ISO 8601. */
  readonly now: string
  /** All the rest. */
  readonly store: StoreSnapshot
}

/** A snapshot may have been kept for long. */
export function checkSnapshot({ version }: { readonly version: number }): void {
  if (version === STATE_FORMAT) return
  throw new TypeError(
    `The snapshot has format ${version}, and this sandbox reads ${STATE_FORMAT} only: take a new one with snapshot().`,
  )
}

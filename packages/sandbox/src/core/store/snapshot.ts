import type { StoreSnapshot } from './store.ts'

/**
 * Version of the row format in state files and snapshots. Increase it when older rows would be
 * misread: another version is rejected, never partly read. test/kept-format.test.ts contains a file
 * of this format.
 */
export const STATE_FORMAT = 3

/** The complete state of a sandbox as plain JSON. A state file holds the same, line by line. */
export interface SandboxSnapshot {
  /** Version of the snapshot format. `restore()` rejects a snapshot with another version. */
  readonly version: number
  /** Time of the sandbox's clock, as ISO 8601. */
  readonly now: string
  /** Everything else: the rows, counters and the seed of ids. */
  readonly store: StoreSnapshot
}

/**
 * Rejects a snapshot of another format, such as one stored by an older version of the sandbox.
 * @throws {TypeError} If the version is not `STATE_FORMAT`.
 */
export function checkSnapshot({ version }: { readonly version: number }): void {
  if (version === STATE_FORMAT) return
  throw new TypeError(
    `The snapshot has format ${version}, and this sandbox reads ${STATE_FORMAT} only: take a new one with snapshot().`,
  )
}

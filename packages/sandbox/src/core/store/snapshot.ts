import type { StoreSnapshot } from './store.ts'

/**
 * Version of the format of rows in state files and snapshots. Increase it when older rows would be
 * misread: files of another version are rejected, never partly read. test/kept-format.test.ts
 * contains a file of the current format.
 */
export const STATE_FORMAT = 3

/**
 * The complete state of a sandbox as plain JSON. A state file holds the same data, one object per
 * line.
 */
export interface SandboxSnapshot {
  /** Version of the snapshot format. `restore()` rejects a snapshot with another version. */
  readonly version: number
  /** Time of the sandbox's clock, as ISO 8601. */
  readonly now: string
  /** The state except the time: the rows, the counters and the seed of ids. */
  readonly store: StoreSnapshot
}

/**
 * Rejects a snapshot of another format, such as one that was taken by an older version of the
 * sandbox.
 * @throws {TypeError} If the version is not `STATE_FORMAT`.
 */
export function checkSnapshot({ version }: { readonly version: number }): void {
  if (version === STATE_FORMAT) return
  throw new TypeError(
    `The snapshot has format ${version}, but this sandbox reads only format ${STATE_FORMAT}: take a new one with snapshot().`,
  )
}

import type { SharedCommits } from '../dialect.ts'

/**
 * Batches commits: SQLite waits for the disk at each commit. A second round could only wait for the
 * first one; the patience limits how long callers wait for two.
 */
export const batching: SharedCommits = { share: 'commit', patience: 250 }

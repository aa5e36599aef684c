import type { SharedCommits } from '../dialect.ts'

/**
 * Batches commits: SQLite waits for the disk at each commit. A second batch always waits for the
 * first one, so `patience` limits how long callers wait for both.
 */
export const batching: SharedCommits = { share: 'commit', patience: 250 }

import type { SharedCommits } from '../dialect.ts'

/** Batches commits, because SQLite waits for the disk at each commit. */
export const batching: SharedCommits = { share: 'commit', patience: 250 }

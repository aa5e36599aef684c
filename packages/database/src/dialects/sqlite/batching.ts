import type { SharedCommits } from '../dialect.ts'

/**
 * SQLite waits for the disk at each commit. A second round could only wait for the first; yet a caller is
 * not to wait for two that wait.
 */
export const batching: SharedCommits = { share: 'commit', patience: 250 }

import type { Clock } from '@tollgate/database'

export type { Clock }

/** The clock of this machine. */
export const systemClock: Clock = { now: () => new Date() }

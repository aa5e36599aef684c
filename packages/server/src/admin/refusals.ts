import type { Clock } from '@tollgate/oauth'
import type { Actor } from './audit/caller.ts'

/** How long the entry of a refused attempt also covers its repetitions, in milliseconds. */
const REPETITION_WINDOW_MS = 60_000
const LARGEST = 10_000

/** Decides which refused attempts get an entry in the audit log. */
export interface RefusalTracker {
  /**
   * Whether this process has not refused the operation to this actor within the last minute.
   * Callers thus cannot flood the log, while every kind of attempt is still recorded.
   */
  isNew(actor: Actor, operation: string): boolean
}

export function createRefusalTracker(clock: Clock): RefusalTracker {
  const noted = new Map<string, number>()
  return {
    isNew({ kind, id }, operation) {
      const name = JSON.stringify([kind, id, operation])
      const now = clock.now().getTime()
      const age = now - (noted.get(name) ?? Number.NEGATIVE_INFINITY)
      if (age >= 0 && age < REPETITION_WINDOW_MS) return false
      if (noted.size >= LARGEST) noted.clear()
      noted.set(name, now)
      return true
    },
  }
}

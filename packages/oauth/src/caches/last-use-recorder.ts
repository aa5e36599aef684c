import type { Clock } from '../clock.ts'
import type { Logger } from '../logger.ts'
import { createRecentCache } from './recent-cache.ts'

/**
 * Largest difference between the recorded and the actual last use of a client or token, in
 * milliseconds.
 */
export const LAST_USE_ACCURACY_MS = 24 * 3600 * 1000
/** Number of uses that this process remembers, to write each only once per day. */
const CACHE_SIZE = 20_000

/** Records when clients or tokens were last used. Writes only the first use of each day. */
export interface LastUseRecorder {
  /**
   * Records that the client or token with this id was used. Writes at most once per day and
   * process, and returns `null` if there is nothing to write. Never fails: the request has been
   * served already.
   */
  note(id: string): Promise<void> | null
}

export interface LastUseRecorderOptions {
  /** Noun for the message in the log. */
  readonly subject: string
  /** Stores a use, unless a use later than `unlessAfter` is stored. */
  readonly recordUse: (id: string, at: Date, unlessAfter: Date) => Promise<void>
  /** Time for which a use is not written again after a write has failed, in milliseconds. */
  readonly retryAfter: number
  readonly clock: Clock
  readonly logger: Required<Logger>
}

export function createLastUseRecorder(options: LastUseRecorderOptions): LastUseRecorder {
  const { subject, recordUse, retryAfter, clock, logger } = options
  /** Until when a use need not be written, by id. */
  const notedUntil = createRecentCache<number>(CACHE_SIZE)

  async function write(id: string, at: Date): Promise<void> {
    try {
      await recordUse(id, at, new Date(at.getTime() - LAST_USE_ACCURACY_MS))
    } catch (error) {
      notedUntil.set(id, at.getTime() + retryAfter)
      logger.error(`The last use of a ${subject} could not be recorded`, error)
    }
  }

  return {
    note(id) {
      const now = clock.now()
      const until = notedUntil.get(id)
      if (until !== undefined && now.getTime() < until) return null
      notedUntil.set(id, now.getTime() + LAST_USE_ACCURACY_MS)
      return write(id, now)
    },
  }
}

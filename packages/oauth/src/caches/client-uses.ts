import type { Clock } from '../clock.ts'
import type { Logger } from '../logger.ts'
import type { ClientRepository } from '../storage/repositories.ts'
import { createRecentCache } from './recent-cache.ts'

/** Largest difference between the recorded and the actual last use of a client, in milliseconds. */
export const USE_ACCURACY = 24 * 3600 * 1000
/** Number of clients whose use this process remembers, to write it only once per day. */
const CACHE_SIZE = 20_000

/** Remembers which clients were used today, so that only their first use of a day is written. */
export interface ClientUses {
  /**
   * Records that a client was used. Writes at most once per day and process, and returns `null` if
   * there is nothing to write. Never fails: the request has been served already.
   */
  note(clientId: string): Promise<void> | null
}

export function createClientUses(
  repository: Pick<ClientRepository, 'recordUse'>,
  { clock, logger }: { readonly clock: Clock; readonly logger: Required<Logger> },
): ClientUses {
  const notedAt = createRecentCache<number>(CACHE_SIZE)

  async function write(clientId: string, at: Date): Promise<void> {
    try {
      await repository.recordUse(clientId, at, new Date(at.getTime() - USE_ACCURACY))
    } catch (error) {
      notedAt.delete(clientId)
      logger.error('The last use of a client could not be recorded', error)
    }
  }

  return {
    note(clientId) {
      const now = clock.now()
      const before = notedAt.get(clientId)
      if (before !== undefined && now.getTime() - before < USE_ACCURACY) return null
      notedAt.set(clientId, now.getTime())
      return write(clientId, now)
    },
  }
}

import type { Consent } from '../storage/records.ts'
import type { ConsentRepository } from '../storage/repositories.ts'
import { createRecentCache } from './recent-cache.ts'

export interface ConsentCache {
  /**
   * Returns a user's consent for a client as this process last read it. The stored consent may have
   * changed since; `ConsentRepository.use()` detects that.
   */
  recall(userId: string, clientId: string): Consent | null
  read(userId: string, clientId: string): Promise<Consent | null>
}

const CACHE_SIZE = 5000

/**
 * Creates a cache of consents, so that repeated requests of a client for the same user need no
 * database read.
 */
export function createConsentCache(repository: Pick<ConsentRepository, 'find'>): ConsentCache {
  const known = createRecentCache<Consent>(CACHE_SIZE)
  const nameOf = (userId: string, clientId: string) => `${clientId} ${userId}`
  return {
    recall: (userId, clientId) => known.get(nameOf(userId, clientId)) ?? null,
    async read(userId, clientId) {
      const consent = await repository.find(userId, clientId)
      if (consent) known.set(nameOf(userId, clientId), consent)
      else known.delete(nameOf(userId, clientId))
      return consent
    },
  }
}

import type { Consent } from '../storage/records.ts'
import type { ConsentRepository } from '../storage/repositories.ts'
import { createRecentCache } from './recent-cache.ts'

export interface ConsentCache {
  /**
   * Returns the consent as last read by this process. Whether it is still valid is checked when it
   * is used.
   */
  recall(userId: string, clientId: string): Consent | null
  read(userId: string, clientId: string): Promise<Consent | null>
}

const CACHE_SIZE = 5000

/** Caches consents, so that repeated requests of a client for the same user need no read. */
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

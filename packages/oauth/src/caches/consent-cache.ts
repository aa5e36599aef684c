import type { Consent } from '../storage/records.ts'
import type { ConsentRepository } from '../storage/repositories.ts'
import { createRecentCache } from './recent-cache.ts'

export interface ConsentCache {
  /** As this process last read it. Whether it still holds is proven when it is used. */
  recall(userId: string, clientId: string): Consent | null
  read(userId: string, clientId: string): Promise<Consent | null>
}

const REMEMBERED_CONSENTS = 5000

/** Spares the read where an application comes again and again for the same person. */
export function createConsentCache(repository: Pick<ConsentRepository, 'find'>): ConsentCache {
  const known = createRecentCache<Consent>(REMEMBERED_CONSENTS)
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

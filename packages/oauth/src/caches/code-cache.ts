import type { AuthorizationCode } from '../storage/records.ts'
import type { AuthorizationCodeRepository } from '../storage/repositories.ts'
import { createRecentCache } from './recent-cache.ts'

export interface AuthorizationCodeCache {
  /** Caches a new authorization code. Call it before the code is sent to the client. */
  remember(code: AuthorizationCode): void
  /**
   * Finds an authorization code by its hash: in the cache on the first call, from then on in the
   * store. A cached code may have been deleted or used since it was cached; exchanging it detects
   * that.
   */
  take(hash: string): Promise<AuthorizationCode | null>
}

const CACHE_SIZE = 10_000

/**
 * Creates a cache of new authorization codes, so that exchanging a code in the process that created
 * it needs no database read.
 */
export function createAuthorizationCodeCache(
  repository: Pick<AuthorizationCodeRepository, 'find'>,
): AuthorizationCodeCache {
  const made = createRecentCache<AuthorizationCode>(CACHE_SIZE)
  return {
    remember: (code) => made.set(code.hash, code),
    async take(hash) {
      const code = made.get(hash)
      if (!code) return repository.find(hash)
      made.delete(hash)
      return code
    },
  }
}

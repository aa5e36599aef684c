import type { AuthorizationCode } from '../storage/records.ts'
import type { AuthorizationCodeRepository } from '../storage/repositories.ts'
import { createRecentCache } from './recent-cache.ts'

export interface CodeCache {
  /** Caches a new code. Call it before the code is sent to anyone. */
  remember(code: AuthorizationCode): void
  /**
   * Returns a code from the cache the first time, and otherwise from the store. Whether it still
   * exists and is unused is checked by the exchange.
   */
  take(hash: string): Promise<AuthorizationCode | null>
}

const CACHE_SIZE = 10_000

/** Caches new codes, so that exchanging a code in the process that created it needs no read. */
export function createCodeCache(repository: Pick<AuthorizationCodeRepository, 'find'>): CodeCache {
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

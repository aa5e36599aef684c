import type { AuthorizationCode } from '../storage/records.ts'
import type { AuthorizationCodeRepository } from '../storage/repositories.ts'
import { createRecentCache } from './recent-cache.ts'

export interface CodeCache {
  /** Called when a code is made, before anybody can know it. */
  remember(code: AuthorizationCode): void
  /**
   * The code as it was made, if that was here and nobody has asked for it before; else as it is stored.
   * Whether it is still there and unused is proven when it is exchanged.
   */
  take(hash: string): Promise<AuthorizationCode | null>
}

const REMEMBERED_CODES = 10_000

/** Spares the read where a code comes back to the process that has made it. */
export function createCodeCache(repository: Pick<AuthorizationCodeRepository, 'find'>): CodeCache {
  const made = createRecentCache<AuthorizationCode>(REMEMBERED_CODES)
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

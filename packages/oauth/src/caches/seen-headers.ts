import { createRecentCache } from './recent-cache.ts'

/** Enough of a signature to tell tokens apart. */
const TAIL = 8

export interface SeenHeaders<Finding> {
  find(header: string): Finding | undefined
  remember(header: string, finding: Finding): void
}

/**
 * What was found out about an Authorization header. It is kept under the whole header, because cutting the
 * token out costs more than all the rest of a guarded request, and found by its end. Then all of it is
 * compared: altered content is another token.
 */
export function createSeenHeaders<Finding>(size: number): SeenHeaders<Finding> {
  const seen = createRecentCache<{ readonly header: string; readonly finding: Finding }, number>(
    size,
  )
  return {
    find(header) {
      const found = seen.get(endOf(header))
      return found?.header === header ? found.finding : undefined
    },
    remember(header, finding) {
      seen.set(endOf(header), { header, finding })
    },
  }
}

/** Hashed as FNV-1a does it: a Map finds a number sooner than a text nobody has hashed yet. */
function endOf(header: string): number {
  let end = 0
  for (let index = header.length - TAIL; index < header.length; index += 1) {
    end = Math.imul(end ^ header.charCodeAt(index), 16_777_619)
  }
  return end
}

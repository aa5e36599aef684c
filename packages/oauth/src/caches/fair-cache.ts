/** What is remembered for callers who share its room. */
export interface FairCache<T> {
  get(key: string): T | undefined
  /** `holder` is whose room it takes, if it is new; an entry that is there stays its first holder's. */
  set(key: string, value: T, holder: string): void
}

/**
 * Bounded: when it is full, whoever holds the most loses the entry that was not asked for the longest. So no number of
 * entries of one caller takes the room of another.
 */
export function createFairCache<T>(size: number): FairCache<T> {
  const holders = new Map<string, Map<string, T>>()
  const holderOf = new Map<string, string>()

  function put(key: string, value: T, holder: string): void {
    const entries = holders.get(holder) ?? new Map<string, T>()
    holders.set(holder, entries)
    // A map keeps the order of insertion: the first is the oldest.
    entries.delete(key)
    entries.set(key, value)
    holderOf.set(key, holder)
  }

  function evict(): void {
    let largest: [string, Map<string, T>] | undefined
    for (const each of holders) if (each[1].size > (largest?.[1].size ?? 0)) largest = each
    const oldest = largest?.[1].keys().next().value
    if (!largest || oldest === undefined) return
    largest[1].delete(oldest)
    holderOf.delete(oldest)
    if (largest[1].size === 0) holders.delete(largest[0])
  }

  return {
    get(key) {
      const holder = holderOf.get(key)
      if (holder === undefined) return undefined
      const value = holders.get(holder)?.get(key)
      if (value !== undefined) put(key, value, holder)
      return value
    },
    set(key, value, holder) {
      const known = holderOf.get(key)
      if (known === undefined && holderOf.size >= size) evict()
      put(key, value, known ?? holder)
    },
  }
}

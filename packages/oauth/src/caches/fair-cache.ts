/**
 * A cache with entries of several holders, such as networks. No holder can displace the entries of
 * the others.
 */
export interface FairCache<T> {
  get(key: string): T | undefined
  /**
   * Stores an entry. A new entry counts against `holder`; an existing entry stays with the holder
   * that stored it first.
   */
  set(key: string, value: T, holder: string): void
}

/**
 * Creates a cache with at most `size` entries. When it is full, the holder with the most entries
 * loses its least recently used one, so that no holder can displace the entries of others.
 */
export function createFairCache<T>(size: number): FairCache<T> {
  const holders = new Map<string, Map<string, T>>()
  const holderOf = new Map<string, string>()

  function put(key: string, value: T, holder: string): void {
    const entries = holders.get(holder) ?? new Map<string, T>()
    holders.set(holder, entries)
    // A Map keeps the insertion order, so the first entry is the least recently used.
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

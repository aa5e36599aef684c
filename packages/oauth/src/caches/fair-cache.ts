/** A cache shared by several holders, each with a fair share of its size. */
export interface FairCache<T> {
  get(key: string): T | undefined
  /**
   * Stores an entry. A new one counts against `holder`; an existing one stays with its first
   * holder.
   */
  set(key: string, value: T, holder: string): void
}

/**
 * Creates a cache of limited size. When it is full, the largest holder loses its least recently
 * used entry, so that one caller cannot displace the entries of others.
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

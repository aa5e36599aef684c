export interface RecentCache<T, Key = string> {
  get(key: Key): T | undefined
  set(key: Key, value: T): void
  delete(key: Key): void
  clear(): void
}

/**
 * Creates a cache with at most `size` entries, split into two halves. When the younger half is
 * full, it replaces the older half. Entries of the older half are then dropped unless they were
 * used since.
 */
export function createRecentCache<T, Key = string>(size: number): RecentCache<T, Key> {
  let young = new Map<Key, T>()
  let old = new Map<Key, T>()

  function set(key: Key, value: T): void {
    if (young.size >= size / 2) {
      old = young
      young = new Map()
    }
    young.set(key, value)
  }

  return {
    set,
    get(key) {
      const recent = young.get(key)
      if (recent !== undefined) return recent
      const older = old.get(key)
      if (older !== undefined) set(key, older)
      return older
    },
    delete(key) {
      young.delete(key)
      old.delete(key)
    },
    clear() {
      young.clear()
      old.clear()
    },
  }
}

import { buildLimitPlaceNames } from './place-names.ts'
import type { LimitRepository } from './repositories.ts'

interface Entry {
  readonly points: number
  readonly holder: string | null
  readonly expiresAt: Date
}

/** Stores the counters and places of limits in memory. */
export function createMemoryLimits(): {
  readonly limits: LimitRepository
  purge(before: Date, limit: number): number
} {
  const entries = new Map<string, Entry>()

  function activeAt(name: string, at: Date): Entry | null {
    const entry = entries.get(name)
    return entry && entry.expiresAt > at ? entry : null
  }

  return {
    purge(before, limit) {
      const ended = [...entries].filter(([, { expiresAt }]) => expiresAt < before).slice(0, limit)
      for (const [name] of ended) entries.delete(name)
      return ended.length
    },
    limits: {
      async count(name, at, until) {
        const before = activeAt(name, at) ?? { points: 0, holder: null, expiresAt: until }
        const after = { ...before, points: before.points + 1 }
        entries.set(name, after)
        return { points: after.points, expiresAt: after.expiresAt }
      },
      async uncount(name, at) {
        const before = activeAt(name, at)
        if (before && before.points > 0) {
          entries.set(name, { ...before, points: before.points - 1 })
        }
      },
      async forget(prefix, max, limit) {
        const counts = [...entries].filter(([name]) => name.startsWith(prefix))
        const first = counts
          .sort(([, one], [, other]) => +one.expiresAt - +other.expiresAt)
          .slice(0, Math.max(0, Math.min(counts.length - max, limit)))
        for (const [name] of first) entries.delete(name)
        return first.length
      },
      async take({ name, max, holder, at, until }) {
        const names = buildLimitPlaceNames(name, max)
        const place = names.find((each) => !activeAt(each, at))
        if (place !== undefined) {
          entries.set(place, { points: 1, holder, expiresAt: until })
          return { place }
        }
        const taken = names.flatMap((each) => activeAt(each, at) ?? [])
        return {
          place: null,
          isHeld: taken.some((entry) => entry.holder !== null),
          freeAt: new Date(Math.min(...taken.map(({ expiresAt }) => +expiresAt))),
        }
      },
      async fail(place, holder, until) {
        const entry = entries.get(place)
        if (entry?.holder === holder) {
          entries.set(place, { ...entry, holder: null, expiresAt: until })
        }
      },
      async free(place, holder) {
        if (entries.get(place)?.holder === holder) entries.delete(place)
      },
      async clear(name, max) {
        for (const place of buildLimitPlaceNames(name, max)) {
          if (entries.get(place)?.holder === null) entries.delete(place)
        }
      },
    },
  }
}

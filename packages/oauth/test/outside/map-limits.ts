import type { LimitRepository } from '@tollgate/oauth'

interface Entry {
  readonly limit: string
  readonly points: number
  readonly holder: string | null
  readonly expiresAt: Date
}

/** Keeps the counts and places of limits in a plain map. */
export function mapLimits(): LimitRepository & { drop(before: Date, limit: number): number } {
  const entries = new Map<string, Entry>()
  let places = 0

  return {
    drop(before, limit) {
      const over = [...entries].filter(([, { expiresAt }]) => expiresAt < before).slice(0, limit)
      for (const [name] of over) entries.delete(name)
      return over.length
    },
    async count(name, at, until) {
      const found = entries.get(name)
      const before = found && found.expiresAt > at ? found : null
      const points = (before?.points ?? 0) + 1
      const expiresAt = before?.expiresAt ?? until
      entries.set(name, { limit: '', holder: null, points, expiresAt })
      return { points, expiresAt }
    },
    async uncount(name) {
      const found = entries.get(name)
      if (found) entries.set(name, { ...found, points: Math.max(0, found.points - 1) })
    },
    async forget(prefix, max, limit) {
      const names = [...entries.keys()]
        .filter((name) => name.startsWith(prefix))
        .sort((a, b) => Number(entries.get(a)?.expiresAt) - Number(entries.get(b)?.expiresAt))
      const first = names.slice(0, Math.max(0, Math.min(names.length - max, limit)))
      for (const name of first) entries.delete(name)
      return first.length
    },
    async take({ name, max, holder, at, until }) {
      const living = [...entries.values()].filter(
        ({ limit, expiresAt }) => limit === name && expiresAt > at,
      )
      if (living.length >= max) {
        const freeAt = new Date(Math.min(...living.map(({ expiresAt }) => expiresAt.getTime())))
        return { place: null, isHeld: living.some((each) => each.holder !== null), freeAt }
      }
      for (const [place, { limit, expiresAt }] of entries) {
        if (limit === name && expiresAt <= at) entries.delete(place)
      }
      places += 1
      const place = `place ${places}`
      entries.set(place, { limit: name, points: 1, holder, expiresAt: until })
      return { place }
    },
    async fail(place, holder, until) {
      const found = entries.get(place)
      if (found?.holder === holder) {
        entries.set(place, { ...found, holder: null, expiresAt: until })
      }
    },
    async free(place, holder) {
      if (entries.get(place)?.holder === holder) entries.delete(place)
    },
    async clear(name) {
      for (const [place, { limit, holder }] of entries) {
        if (limit === name && holder === null) entries.delete(place)
      }
    },
  }
}

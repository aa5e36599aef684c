import { type Database, insertIfAbsent } from '@tollgate/database'
import { sql } from 'kysely'
import { buildLimitPlaceNames } from '../place-names.ts'
import type { LimitCount, LimitPlaceRequest, LimitPlaceResult } from '../records.ts'
import type { LimitRepository } from '../repositories.ts'
import type { LimitRow, OAuthTables } from './tables.ts'

/** How often to retry when a concurrent request changed the row between read and write. */
const MAX_ATTEMPTS = 10

export function createLimitRepository(database: Database<OAuthTables>): LimitRepository {
  type Change = { name: string; now: number; until: number }
  type Row = Pick<LimitRow, 'points' | 'expires_at'>
  const returning = ['points', 'expires_at'] as const
  const increase = database.updateOneReturning<Change, Row>({
    table: 'oauth_limits',
    key: (param) => ({ name: param('name') }),
    where: (eb, param) => eb('expires_at', '>', param('now')),
    set: () => ({ points: sql`${sql.ref('points')} + 1` }),
    returning,
  })
  const begin = database.updateOneReturning<Change, Row>({
    table: 'oauth_limits',
    key: (param) => ({ name: param('name') }),
    where: (eb, param) => eb('expires_at', '<=', param('now')),
    set: (param) => ({ points: sql.lit(1), expires_at: param('until') }),
    returning,
  })

  /**
   * Claims a place atomically: only one caller inserts the row, or takes over one that has expired.
   */
  async function claim(
    name: string,
    { holder, at, until }: LimitPlaceRequest,
    isThere: boolean,
  ): Promise<boolean> {
    const row = { name, points: 1, holder, expires_at: until.getTime() }
    if (!isThere) return insertIfAbsent(database, 'oauth_limits', row)
    const { numUpdatedRows } = await database.kysely
      .updateTable('oauth_limits')
      .set(row)
      .where('name', '=', name)
      .where('expires_at', '<=', at.getTime())
      .executeTakeFirst()
    return numUpdatedRows === 1n
  }

  return {
    async count(name, at, until): Promise<LimitCount> {
      const change = { name, now: at.getTime(), until: until.getTime() }
      const fresh = { name, points: 1, holder: null, expires_at: change.until }
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
        const row = (await increase(change)) ?? (await begin(change))
        if (row) return { points: row.points, expiresAt: new Date(row.expires_at) }
        if (await insertIfAbsent(database, 'oauth_limits', fresh)) {
          return { points: 1, expiresAt: until }
        }
      }
      throw new Error(`The count ${name} changed ${MAX_ATTEMPTS} times while it was read`)
    },
    async uncount(name, at) {
      await database.kysely
        .updateTable('oauth_limits')
        .set({ points: sql<number>`${sql.ref('points')} - 1` })
        .where('name', '=', name)
        .where('points', '>', 0)
        .where('expires_at', '>', at.getTime())
        .execute()
    },
    async forget(prefix, max, limit) {
      const counts = database.kysely.selectFrom('oauth_limits').where('name', 'like', `${prefix}%`)
      const { count } = await counts
        .select((eb) => eb.fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow()
      const surplus = Math.min(Number(count) - max, limit)
      if (surplus <= 0) return 0
      const first = await counts.select('name').orderBy('expires_at').limit(surplus).execute()
      const names = first.map(({ name }) => name)
      const { numDeletedRows } = await database.kysely
        .deleteFrom('oauth_limits')
        .where('name', 'in', names)
        .executeTakeFirst()
      return Number(numDeletedRows)
    },
    async take(request): Promise<LimitPlaceResult> {
      const names = buildLimitPlaceNames(request.name, request.max)
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
        const rows = await database.kysely
          .selectFrom('oauth_limits')
          .select(['name', 'holder', 'expires_at'])
          .where('name', 'in', names)
          .execute()
        const taken = rows.filter(({ expires_at }) => expires_at > request.at.getTime())
        const free = names.filter((name) => taken.every((each) => each.name !== name))
        if (free.length === 0) {
          const ends = taken.map(({ expires_at }) => expires_at)
          const isHeld = taken.some(({ holder }) => holder !== null)
          return { place: null, isHeld, freeAt: new Date(Math.min(...ends)) }
        }
        // Picks a random place, so that concurrent callers rarely compete for the same one.
        const place = free[Math.floor(Math.random() * free.length)] ?? ''
        const isThere = rows.some(({ name }) => name === place)
        if (await claim(place, request, isThere)) return { place }
      }
      return { place: null, isHeld: true, freeAt: request.until }
    },
    async fail(place, holder, until) {
      await database.kysely
        .updateTable('oauth_limits')
        .set({ holder: null, expires_at: until.getTime() })
        .where('name', '=', place)
        .where('holder', '=', holder)
        .execute()
    },
    async free(place, holder) {
      await database.kysely
        .deleteFrom('oauth_limits')
        .where('name', '=', place)
        .where('holder', '=', holder)
        .execute()
    },
    async clear(name, max) {
      await database.kysely
        .deleteFrom('oauth_limits')
        .where('name', 'in', buildLimitPlaceNames(name, max))
        .where('holder', 'is', null)
        .execute()
    },
  }
}

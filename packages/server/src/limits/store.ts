import { createRequire } from 'node:module'
import { type Database, deleteBatch, insertIfAbsent, upsert } from '@tollgate/database'
import type { Clock } from '@tollgate/oauth'
import { sql } from 'kysely'
import type { RateLimiterStoreAbstract } from 'rate-limiter-flexible'
import type { RateLimitRow, ServiceTables } from '../storage/tables.ts'

const require = createRequire(import.meta.url)
// The package's index loads a dozen other stores and does not name this base class.
const StoreBase: typeof RateLimiterStoreAbstract = require('rate-limiter-flexible/lib/RateLimiterStoreAbstract')
const RateLimiterRes: typeof import('rate-limiter-flexible').RateLimiterRes = require('rate-limiter-flexible/lib/RateLimiterRes')

export interface Counter {
  readonly points: number
  readonly expiresAt: number
}

/** Counters that every process shares and a restart keeps. */
export interface CounterStore {
  /** Adds to a counter that has not ended, or begins it anew; one winner at a time. */
  add(name: string, points: number, milliseconds: number): Promise<Counter>
  set(name: string, points: number, milliseconds: number): Promise<Counter>
  get(name: string): Promise<Counter | null>
  delete(name: string): Promise<boolean>
  purge(): Promise<number>
  now(): number
}

const PURGED_AT_ONCE = 500

export function createCounterStore(plain: Database, clock: Clock): CounterStore {
  const database = plain as unknown as Database<ServiceTables>
  const now = () => clock.now().getTime()
  type Change = { name: string; points: number; now: number; until: number }
  type Row = Pick<RateLimitRow, 'points' | 'expires_at'>
  const returning = ['points', 'expires_at'] as const
  const increase = database.updateOneReturning<Change, Row>({
    table: 'rate_limits',
    key: (param) => ({ name: param('name') }),
    where: (eb, param) => eb('expires_at', '>', param('now')),
    set: (param) => ({ points: sql`${sql.ref('points')} + ${param('points')}` }),
    returning,
  })
  const begin = database.updateOneReturning<Change, Row>({
    table: 'rate_limits',
    key: (param) => ({ name: param('name') }),
    where: (eb, param) => eb('expires_at', '<=', param('now')),
    set: (param) => ({ points: param('points'), expires_at: param('until') }),
    returning,
  })
  const find = database.statement<{ name: string; now: number }, Row>((db, param) =>
    db
      .selectFrom('rate_limits')
      .select(['points', 'expires_at'])
      .where('name', '=', param('name'))
      .where('expires_at', '>', param('now')),
  )
  const toCounter = (row: Row): Counter => ({ points: row.points, expiresAt: row.expires_at })

  return {
    now,
    async add(name, points, milliseconds) {
      const at = now()
      const change = { name, points, now: at, until: at + milliseconds }
      for (let tries = 0; tries < 5; tries++) {
        const row = (await increase(change)) ?? (await begin(change))
        if (row) return toCounter(row)
        const fresh = { name, points, expires_at: change.until }
        if (await insertIfAbsent(plain, 'rate_limits', fresh)) {
          return { points, expiresAt: change.until }
        }
      }
      throw new Error('A rate limit changed five times under our hands')
    },
    async set(name, points, milliseconds) {
      const expiresAt = now() + milliseconds
      await upsert(plain, 'rate_limits', { name, points, expires_at: expiresAt }, ['name'])
      return { points, expiresAt }
    },
    async get(name) {
      const [row] = (await find({ name, now: now() })).rows
      return row ? toCounter(row) : null
    },
    async delete(name) {
      const { numDeletedRows } = await database.kysely
        .deleteFrom('rate_limits')
        .where('name', '=', name)
        .executeTakeFirst()
      return Number(numDeletedRows) > 0
    },
    async purge() {
      let total = 0
      for (;;) {
        const deleted = await deleteBatch(plain, {
          table: 'rate_limits',
          key: 'name',
          where: (eb) => eb('expires_at', '<=', now()),
          limit: PURGED_AT_ONCE,
        })
        total += deleted
        if (deleted < PURGED_AT_ONCE) return total
      }
    },
  }
}

/** rate-limiter-flexible's policies on counters of our own, so that dialects stay in one package. */
export class DatabaseRateLimiter extends StoreBase {
  readonly #store: CounterStore

  constructor(store: CounterStore, policy: { name: string; points: number; seconds: number }) {
    super({
      storeClient: store,
      keyPrefix: policy.name,
      points: policy.points,
      duration: policy.seconds,
    })
    this.#store = store
  }

  _upsert(name: string, points: number, milliseconds: number, force: boolean): Promise<Counter> {
    return force
      ? this.#store.set(name, points, milliseconds)
      : this.#store.add(name, points, milliseconds)
  }

  _get(name: string): Promise<Counter | null> {
    return this.#store.get(name)
  }

  _delete(name: string): Promise<boolean> {
    return this.#store.delete(name)
  }

  _getRateLimiterRes(_name: string, changed: number, counter: Counter) {
    const left = Math.max(this.points - counter.points, 0)
    const wait = Math.max(counter.expiresAt - this.#store.now(), 0)
    return new RateLimiterRes(left, wait, counter.points, counter.points === changed)
  }
}

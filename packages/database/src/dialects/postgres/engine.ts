import type { PoolClient } from 'pg'
import { importDriver } from '../../connections/import-driver.ts'
import { takeInTime } from '../../connections/take-in-time.ts'
import { createUnansweredConnections, SILENCE } from '../../connections/unanswered.ts'
import { hasKind, NoAnswer, NotPrimary } from '../../errors.ts'
import { toStorables } from '../../values.ts'
import type { Engine, EngineOptions, Query, QueryResult, Session } from '../engine.ts'
import { cancelPostgres } from './cancel.ts'
import { errorKind, isStalePlan } from './errors.ts'
import { SECONDARY_REASON } from './primary.ts'

const BIGINT = 20
/** A transaction left open by a process that hangs ends after this long and frees its locks. */
const IDLE_IN_TRANSACTION = 5000
const IDLE_WITH_LOCK = 60_000
/** A migration may rebuild a large table; beyond this something is wrong. */
const LONG_STATEMENT = 3_600_000
/** A plan made while a table was small would read all of it once it is large. */
const PLAN_LIFETIME = 1000
/** The server ends a slow statement itself; the client gives up only when the server cannot. */
const GRACE = 300
/** The function of Postgres that warns when it stops waiting for a standby; never translated. */
const WAIT_FOR_STANDBY = 'SyncRepWaitForLSN'

const storeDate = (date: Date) => date.toISOString()

/** Postgres through `pg` and its pool. */
export async function openPostgres(url: string, options: EngineOptions): Promise<Engine> {
  const { timeout } = options
  const pg = await importDriver('pg', () => import('pg'))
  const pool = new pg.default.Pool({
    connectionString: url,
    max: options.poolSize,
    // Callers give up earlier; the attempt keeps its place, as the server may have begun to answer it.
    connectionTimeoutMillis: Math.max(timeout, SILENCE),
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    types: {
      getTypeParser: (oid: number, format?: 'text' | 'binary') =>
        oid === BIGINT && format !== 'binary'
          ? Number
          : pg.default.types.getTypeParser(oid, format as 'text'),
    },
  })
  // A connection that breaks, idle or not, is replaced when the next one is needed; whoever waits on
  // it is told by the query. Unheard, the event would end the process.
  pool.on('error', () => {})
  pool.on('connect', (client) => {
    openedIn.set(client, generation)
    client.on('error', () => {})
    client.on('notice', (notice) => {
      if (notice.routine === WAIT_FOR_STANDBY) unconfirmed.add(client)
    })
  })

  /** Grows when all connections are to be replaced. */
  let generation = 0
  const openedIn = new WeakMap<PoolClient, number>()
  /** Clients that lead to a server which is not the primary, and why it is none. */
  const secondaries = new WeakMap<PoolClient, string>()
  /** Clients whose last commit a standby has not confirmed. */
  const unconfirmed = new WeakSet<PoolClient>()
  /** Clients whose caller gave up before the answer, which is still awaited here. */
  const unanswered = new Map<PoolClient, Promise<void>>()
  const unansweredConnections = createUnansweredConnections((more) => {
    pool.options.max += more
  })

  async function run(query: Query, values: readonly unknown[]): Promise<QueryResult> {
    const storables = toStorables(values, storeDate)
    const started = performance.now()
    const client = await connect()
    try {
      const left = timeout + GRACE - (performance.now() - started)
      const result = await ask(client, query, storables, Math.max(left, GRACE))
      client.release()
      return result
    } catch (error) {
      release(client, hasKind(error, ['broken'], errorKind))
      throw error
    }
  }

  async function connect(): Promise<PoolClient> {
    for (;;) {
      const client = await takeInTime<PoolClient>(timeout, (done) => pool.connect(done))
      if (openedIn.get(client) === generation) return client
      client.release(true)
    }
  }

  /** A connection that still waits for its answer keeps its place in the pool. */
  function release(client: PoolClient, broken: boolean): void {
    const answered = unanswered.get(client)
    if (!answered) {
      client.release(broken)
      return
    }
    unansweredConnections.hold({
      answered,
      stop: () => cancelPostgres(pg.default, client, timeout),
      close: () => {
        unanswered.delete(client)
        client.release(true)
      },
    })
  }

  const plannedAt = new WeakMap<PoolClient, number>()

  /** Keeps the prepared statements; the next run of each is planned anew. */
  function forgetOldPlans(client: PoolClient): void {
    const now = performance.now()
    const before = plannedAt.get(client)
    if (before !== undefined && now - before < PLAN_LIFETIME) return
    plannedAt.set(client, now)
    // Should it fail, so does the query behind it, whose caller is told.
    if (before !== undefined) client.query('discard plans', () => {})
  }

  const settled = new WeakSet<PoolClient>()

  /**
   * Not with the connection itself, where PgBouncer refuses what it does not know. Should it fail, so
   * does the query behind it, or our own patience ends. It is answered before that query, which therefore
   * tells nothing of a server that is not the primary.
   */
  function settle(client: PoolClient): void {
    if (settled.has(client)) return
    settled.add(client)
    client.query(
      `select set_config('statement_timeout', '${timeout}', false),
        set_config('idle_in_transaction_session_timeout', '${IDLE_IN_TRANSACTION}', false),
        set_config('datestyle', 'ISO', false),
        ${SECONDARY_REASON} as reason`,
      (_, result) => {
        const reason: string | null | undefined = result?.rows[0]?.reason
        if (reason) secondaries.set(client, reason)
      },
    )
  }

  /** Statements that had to be prepared again got a new name. */
  const renamed = new Map<string, string>()

  /** Runs one query; `patience` is in milliseconds. */
  function ask(
    client: PoolClient,
    query: Query,
    values: unknown[],
    patience: number,
  ): Promise<QueryResult> {
    settle(client)
    if (query.followsSize) forgetOldPlans(client)
    return new Promise((resolve, reject) => {
      const name = query.name && (renamed.get(query.name) ?? query.name)
      let answer: (() => void) | undefined
      const timer = setTimeout(() => {
        const answered = new Promise<void>((settle) => {
          answer = settle
        })
        unanswered.set(client, answered)
        reject(new NoAnswer(`The database did not answer within ${Math.round(patience)} ms`))
      }, patience)
      const config = { text: query.sql, values, ...(name ? { name } : {}) }
      client.query(config, (error, result) => {
        clearTimeout(timer)
        answer?.()
        const isUnconfirmed = unconfirmed.delete(client)
        const reason = secondaries.get(client)
        if (reason) {
          reject(new NotPrimary(reason))
        } else if (error) {
          if (query.name && isStalePlan(error)) renamed.set(query.name, `${name}_again`)
          reject(error)
        } else if (isUnconfirmed) {
          reject(new NoAnswer('The commit is on this server only: no standby has confirmed it'))
        } else {
          const affected = result.command === 'SELECT' ? 0 : (result.rowCount ?? 0)
          resolve({ rows: result.rows, affected })
        }
      })
    })
  }

  async function reserve(): Promise<Session> {
    const client = await connect()
    let patience = timeout + GRACE
    const command = (sql: string, values: unknown[] = []) => ask(client, { sql }, values, patience)
    return {
      run: (query, values) => ask(client, query, toStorables(values, storeDate), patience),
      begin: async () => void (await command('begin isolation level read committed')),
      commit: async () => void (await command('commit')),
      rollback: async () => void (await command('rollback')),
      async lock(name, wait) {
        await command(
          `select set_config('statement_timeout', '${LONG_STATEMENT}', true),
                  set_config('idle_in_transaction_session_timeout', '${IDLE_WITH_LOCK}', true),
                  set_config('lock_timeout', '${wait}', true)`,
        )
        patience = LONG_STATEMENT + GRACE
        await command('select pg_advisory_xact_lock(hashtextextended($1, 0))', [name])
      },
      release: async (broken) => release(client, broken),
    }
  }

  return {
    exactText: 'collate "C"',
    run,
    reserve,
    renew() {
      generation++
    },
    close() {
      unansweredConnections.close()
      return pool.end()
    },
  }
}

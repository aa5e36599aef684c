import type { PoolClient } from 'pg'
import { importDriver } from '../../connections/import-driver.ts'
import { takeConnection } from '../../connections/take-connection.ts'
import {
  SILENT_NETWORK_TIMEOUT_MS,
  trackUnansweredConnections,
} from '../../connections/unanswered.ts'
import { hasErrorKind, NoAnswer, NotPrimary } from '../../errors.ts'
import { toStorables } from '../../values.ts'
import type { Engine, EngineOptions, Query, QueryResult, Session } from '../engine.ts'
import { cancelPostgres } from './cancel.ts'
import { findPostgresErrorKind, isStalePlan } from './errors.ts'
import { NOT_PRIMARY_REASON_SQL } from './primary.ts'

const BIGINT = 20
/**
 * Milliseconds after which the server ends a transaction that a hanging process left open, which
 * frees its locks.
 */
const IDLE_IN_TRANSACTION = 5000
const IDLE_WITH_LOCK = 60_000
/**
 * Longest time for a statement of a migration, in milliseconds. A migration may rebuild a large
 * table.
 */
const LONG_STATEMENT = 3_600_000
/**
 * Milliseconds after which a prepared plan is discarded. A plan made while a table was small would
 * scan the whole table once it is large.
 */
const PLAN_LIFETIME = 1000
/**
 * Milliseconds that the client waits beyond the statement timeout. The server ends a slow statement
 * itself; the client gives up only if the server cannot.
 */
const GRACE = 300
/**
 * The function of Postgres that warns when it stops waiting for a standby. Its name is in the
 * notice and never translated.
 */
const WAIT_FOR_STANDBY = 'SyncRepWaitForLSN'

const storeDate = (date: Date) => date.toISOString()

/** Opens Postgres through `pg` and its pool. */
export async function openPostgres(url: string, options: EngineOptions): Promise<Engine> {
  const { timeout } = options
  const pg = await importDriver('pg', () => import('pg'))
  const pool = new pg.default.Pool({
    connectionString: url,
    max: options.poolSize,
    // Callers give up earlier, but the attempt keeps its place in the pool, because the server may
    // have begun to respond.
    connectionTimeoutMillis: Math.max(timeout, SILENT_NETWORK_TIMEOUT_MS),
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
  // A broken connection, idle or not, is replaced on demand, and the query that uses it fails and
  // informs its caller. Without a listener, the event would end the process.
  pool.on('error', () => {})
  pool.on('connect', (client) => {
    openedIn.set(client, generation)
    client.on('error', () => {})
    client.on('notice', (notice) => {
      if (notice.routine === WAIT_FOR_STANDBY) unconfirmed.add(client)
    })
  })

  /** Incremented when all connections are to be replaced. */
  let generation = 0
  const openedIn = new WeakMap<PoolClient, number>()
  /** Clients that are connected to a server which is not the primary, with the reason. */
  const secondaries = new WeakMap<PoolClient, string>()
  /** Clients whose last commit was not confirmed by a standby. */
  const unconfirmed = new WeakSet<PoolClient>()
  /** Clients whose caller gave up before the response, with the promise of that response. */
  const unanswered = new Map<PoolClient, Promise<void>>()
  const unansweredConnections = trackUnansweredConnections((more) => {
    pool.options.max += more
  })

  async function run(query: Query, values: readonly unknown[]): Promise<QueryResult> {
    const storables = toStorables(values, storeDate)
    const started = performance.now()
    const client = await connect()
    try {
      const left = timeout + GRACE - (performance.now() - started)
      const result = await runQuery(client, query, storables, Math.max(left, GRACE))
      client.release()
      return result
    } catch (error) {
      release(client, hasErrorKind(error, ['broken'], findPostgresErrorKind))
      throw error
    }
  }

  async function connect(): Promise<PoolClient> {
    for (;;) {
      const client = await takeConnection<PoolClient>(timeout, (done) => pool.connect(done))
      if (openedIn.get(client) === generation) return client
      client.release(true)
    }
  }

  /** Returns a client to the pool. A connection that still waits for a response keeps its place. */
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

  /**
   * Discards the plans but keeps the prepared statements, so that the next run of each is planned
   * anew.
   */
  function forgetOldPlans(client: PoolClient): void {
    const now = performance.now()
    const before = plannedAt.get(client)
    if (before !== undefined && now - before < PLAN_LIFETIME) return
    plannedAt.set(client, now)
    // If this fails, the next query on the connection fails too, and its caller is informed.
    if (before !== undefined) client.query('discard plans', () => {})
  }

  const settled = new WeakSet<PoolClient>()

  /**
   * Applies the session settings with a query instead of at connection start, where PgBouncer
   * rejects unknown parameters. If this query fails, the next query fails or times out too. The
   * response to this query arrives before the response to the next query, which therefore returns
   * no data of a server that is not the primary.
   */
  function applySessionSettings(client: PoolClient): void {
    if (settled.has(client)) return
    settled.add(client)
    client.query(
      `select set_config('statement_timeout', '${timeout}', false),
        set_config('idle_in_transaction_session_timeout', '${IDLE_IN_TRANSACTION}', false),
        set_config('datestyle', 'ISO', false),
        ${NOT_PRIMARY_REASON_SQL} as reason`,
      (_, result) => {
        const reason: string | null | undefined = result?.rows[0]?.reason
        if (reason) secondaries.set(client, reason)
      },
    )
  }

  /** New names of statements that had to be prepared again. */
  const renamed = new Map<string, string>()

  /** Runs one query, for at most `patience` milliseconds. */
  function runQuery(
    client: PoolClient,
    query: Query,
    values: unknown[],
    patience: number,
  ): Promise<QueryResult> {
    applySessionSettings(client)
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
          reject(
            new NoAnswer(
              'The transaction is committed on this server only: no standby has confirmed it',
            ),
          )
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
    const command = (sql: string, values: unknown[] = []) =>
      runQuery(client, { sql }, values, patience)
    return {
      run: (query, values) => runQuery(client, query, toStorables(values, storeDate), patience),
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
    connections: () => ({
      max: pool.options.max,
      inUse: pool.totalCount - pool.idleCount,
      waiting: pool.waitingCount,
    }),
    close() {
      unansweredConnections.close()
      return pool.end()
    },
  }
}

import { PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely'
import type { PoolClient } from 'pg'
import type { Engine, EngineOptions, Query, QueryResult, Session } from './engine.ts'
import { breaksConnection, isStalePlan } from './errors.ts'
import { importDriver } from './import-driver.ts'
import { toStorables } from './values.ts'

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

/** Postgres through `pg` and its pool. */
export async function openPostgres(url: string, options: EngineOptions): Promise<Engine> {
  const { timeout } = options
  const pg = await importDriver('pg', () => import('pg'))
  const pool = new pg.default.Pool({
    connectionString: url,
    max: options.poolSize,
    connectionTimeoutMillis: timeout,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    statement_timeout: timeout,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION,
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
  pool.on('connect', (client) => client.on('error', () => {}))

  async function run(query: Query, values: readonly unknown[]): Promise<QueryResult> {
    const storables = toStorables(values)
    const started = performance.now()
    const client = await connect()
    try {
      const left = timeout + GRACE - (performance.now() - started)
      const result = await ask(client, query, storables, Math.max(left, GRACE))
      client.release()
      return result
    } catch (error) {
      client.release(breaksConnection(error))
      throw error
    }
  }

  function connect(): Promise<PoolClient> {
    return new Promise((resolve, reject) => {
      pool.connect((error, client) => (client ? resolve(client) : reject(error)))
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

  /** Statements that had to be prepared again got a new name. */
  const renamed = new Map<string, string>()

  /** Runs one query; `patience` is in milliseconds. */
  function ask(
    client: PoolClient,
    query: Query,
    values: unknown[],
    patience: number,
  ): Promise<QueryResult> {
    if (query.followsSize) forgetOldPlans(client)
    return new Promise((resolve, reject) => {
      const name = query.name && (renamed.get(query.name) ?? query.name)
      // `query_timeout` for a single query is missing from the typings.
      const config = { text: query.sql, name, values, query_timeout: patience }
      client.query(config as { text: string; values: unknown[] }, (error, result) => {
        if (!error) {
          const affected = result.command === 'SELECT' ? 0 : (result.rowCount ?? 0)
          resolve({ rows: result.rows, affected })
          return
        }
        if (query.name && isStalePlan(error)) renamed.set(query.name, `${name}_again`)
        reject(error)
      })
    })
  }

  async function reserve(): Promise<Session> {
    const client = await connect()
    let patience = timeout + GRACE
    const command = (sql: string, values: unknown[] = []) => ask(client, { sql }, values, patience)
    return {
      run: (query, values) => ask(client, query, toStorables(values), patience),
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
      async release(broken) {
        client.release(broken)
      },
    }
  }

  return {
    dialect: 'postgres',
    flavour: {
      createAdapter: () => new PostgresAdapter(),
      createQueryCompiler: () => new PostgresQueryCompiler(),
      createIntrospector: (db) => new PostgresIntrospector(db),
    },
    updatesReturnRows: true,
    ctesCanWrite: true,
    exactText: 'collate "C"',
    run,
    reserve,
    close: () => pool.end(),
  }
}

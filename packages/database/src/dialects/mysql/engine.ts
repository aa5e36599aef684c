import type { PoolConnection } from 'mysql2'
import { hasKind, UNAVAILABLE, WaitedTooLong } from '../../errors.ts'
import { LOCKS } from '../../locks/locks-table.ts'
import { toStorables } from '../../values.ts'
import type { Engine, EngineOptions, Query, QueryResult, Session } from '../engine.ts'
import { endsConnection, errorKind } from './errors.ts'
import { askMysql, openMysqlPool } from './pool.ts'

/** Seconds after which the server ends a transaction left open by a process that hangs. */
const IDLE_IN_TRANSACTION = 5
const IDLE_WITH_LOCK = 60
/** A migration may rebuild a large table; beyond this many milliseconds something is wrong. */
const LONG_STATEMENT = 3_600_000
/** The server ends a slow statement itself; the client gives up only when the server cannot. */
const GRACE = 300

/** The session's time zone is UTC. */
const storeDate = (date: Date) => date.toISOString().slice(0, -1).replace('T', ' ')

/** MySQL and MariaDB through `mysql2`. */
export async function openMysql(url: string, options: EngineOptions): Promise<Engine> {
  const { timeout } = options
  const pool = await openMysqlPool(url, options, settle)

  async function settle(connection: PoolConnection): Promise<void> {
    await askMysql(connection, isolation, [], timeout)
    await askMysql(connection, sessionSettings(timeout, IDLE_IN_TRANSACTION), [], timeout)
  }

  async function run(query: Query, values: readonly unknown[]): Promise<QueryResult> {
    const storables = toStorables(values, storeDate)
    const started = performance.now()
    const connection = await pool.take()
    let broken = false
    try {
      const left = timeout + GRACE - (performance.now() - started)
      return await askMysql(connection, query, storables, Math.max(left, GRACE))
    } catch (error) {
      broken = hasKind(error, ['broken'], errorKind) || endsConnection(error)
      throw error
    } finally {
      pool.give(connection, broken)
    }
  }

  async function reserve(): Promise<Session> {
    const connection = await pool.take()
    let patience = timeout + GRACE
    let locked = false
    const command = (sql: string, values: unknown[] = []) =>
      askMysql(connection, { sql }, values, patience)
    return {
      run: (query, values) => askMysql(connection, query, toStorables(values, storeDate), patience),
      begin: async () => void (await command('start transaction')),
      commit: async () => void (await command('commit')),
      rollback: async () => void (await command('rollback')),
      async lock(name, wait) {
        locked = true
        await askMysql(connection, sessionSettings(LONG_STATEMENT, IDLE_WITH_LOCK), [], patience)
        patience = LONG_STATEMENT + GRACE
        await queueForLock(connection, name, wait)
        await command(
          `insert into ${LOCKS} (name, turns) values (?, 1) on duplicate key update turns = turns + 1`,
          [name],
        )
      },
      async release(broken) {
        pool.give(connection, broken || (locked && !(await unlock(connection))))
      },
    }
  }

  /**
   * Only an orderly queue: this lock holds on one server, where builds from before the row use it too.
   * A cluster may refuse it, and there the row decides.
   */
  async function queueForLock(connection: PoolConnection, name: string, wait: number) {
    const sql = `select get_lock(sha2(concat_ws(':', 'tollgate', database(), ?), 256), ?) as locked`
    const values = [name, Math.ceil(wait / 1000)]
    const answer = await askMysql(connection, { sql }, values, LONG_STATEMENT).catch((error) => {
      if (hasKind(error, UNAVAILABLE, errorKind)) throw error
      return null
    })
    if (!answer || (answer.rows[0] as { locked: unknown }).locked === 1) return
    throw new WaitedTooLong(`Waited ${wait} ms for the lock "${name}"`)
  }

  async function unlock(connection: PoolConnection): Promise<boolean> {
    try {
      await askMysql(connection, { sql: 'do release_all_locks()' }, [], timeout)
      await settle(connection)
      return true
    } catch {
      return false
    }
  }

  async function findExactText(): Promise<string> {
    try {
      const { rows } = await run({ sql: 'select version() as version' }, [])
      return exactCollation((rows[0] as { version: string }).version)
    } catch (error) {
      await pool.close()
      throw error
    }
  }

  return {
    exactText: await findExactText(),
    run,
    reserve,
    renew: () => pool.renew(),
    close: () => pool.close(),
  }
}

const isolation = { sql: 'set session transaction isolation level read committed' }

/**
 * What every connection must agree on, whatever the server's defaults. The mode must not include
 * NO_BACKSLASH_ESCAPES: the driver's escaping relies on backslashes. `timeout` is in milliseconds,
 * `idle` in seconds. MariaDB reads what follows `/*M!`, MySQL what follows `/*!80000`.
 */
function sessionSettings(timeout: number, idle: number): Query {
  const lockWait = Math.max(1, Math.floor(timeout / 1000))
  return {
    sql: `set session
      sql_mode = 'STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION',
      time_zone = '+00:00',
      innodb_lock_wait_timeout = ${lockWait}
      /*M! , max_statement_time = ${timeout / 1000}, idle_transaction_timeout = ${idle} */
      /*!80000 , max_execution_time = ${timeout} */`,
  }
}

/** The plain `utf8mb4_bin` of both products ignores trailing spaces; these two collations do not. */
function exactCollation(version: string): string {
  const collation = /mariadb/i.test(version) ? 'utf8mb4_nopad_bin' : 'utf8mb4_0900_bin'
  return `character set utf8mb4 collate ${collation}`
}

import type { PoolConnection } from 'mysql2'
import { hasErrorKind, UNAVAILABLE_ERROR_KINDS, WaitedTooLong } from '../../errors.ts'
import { LOCKS_TABLE } from '../../locks/locks-table.ts'
import { toStorables } from '../../values.ts'
import type { Engine, EngineOptions, Query, QueryResult, Session } from '../engine.ts'
import { findMysqlErrorKind, isConnectionEndingError } from './errors.ts'
import { openMysqlPool, queryMysql } from './pool.ts'

/** Seconds after which the server ends a transaction that a hanging process left open. */
const IDLE_IN_TRANSACTION = 5
const IDLE_WITH_LOCK = 60
/**
 * Longest time for a statement of a migration, in milliseconds. A migration may rebuild a large
 * table.
 */
const LONG_STATEMENT = 3_600_000
/**
 * Milliseconds that the client waits beyond the statement timeout. The server ends a slow statement
 * itself; the client gives up only if the server cannot.
 */
const GRACE = 300

/** The session's time zone is UTC, so the text has no zone. */
const storeDate = (date: Date) => date.toISOString().slice(0, -1).replace('T', ' ')

/** Opens MySQL or MariaDB through `mysql2`. */
export async function openMysql(url: string, options: EngineOptions): Promise<Engine> {
  const { timeout } = options
  const pool = await openMysqlPool(url, options, applySessionSettings)

  async function applySessionSettings(connection: PoolConnection): Promise<void> {
    await queryMysql(connection, isolation, [], timeout)
    await queryMysql(connection, sessionSettings(timeout, IDLE_IN_TRANSACTION), [], timeout)
  }

  async function run(query: Query, values: readonly unknown[]): Promise<QueryResult> {
    const storables = toStorables(values, storeDate)
    const started = performance.now()
    const connection = await pool.take()
    let broken = false
    try {
      const left = timeout + GRACE - (performance.now() - started)
      return await queryMysql(connection, query, storables, Math.max(left, GRACE))
    } catch (error) {
      broken = hasErrorKind(error, ['broken'], findMysqlErrorKind) || isConnectionEndingError(error)
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
      queryMysql(connection, { sql }, values, patience)
    return {
      run: (query, values) =>
        queryMysql(connection, query, toStorables(values, storeDate), patience),
      begin: async () => void (await command('start transaction')),
      commit: async () => void (await command('commit')),
      rollback: async () => void (await command('rollback')),
      async lock(name, wait) {
        locked = true
        await queryMysql(connection, sessionSettings(LONG_STATEMENT, IDLE_WITH_LOCK), [], patience)
        patience = LONG_STATEMENT + GRACE
        await queueForLock(connection, name, wait)
        await command(
          `insert into ${LOCKS_TABLE} (name, turns) values (?, 1) on duplicate key update turns = turns + 1`,
          [name],
        )
      },
      async release(broken) {
        pool.give(connection, broken || (locked && !(await unlock(connection))))
      },
    }
  }

  /**
   * Queues for the lock in order. The named lock exists on one server only. Processes of older
   * builds use nothing else, so the named lock excludes them too. A cluster may reject it: then
   * only the row in the locks table decides.
   */
  async function queueForLock(connection: PoolConnection, name: string, wait: number) {
    const sql = `select get_lock(sha2(concat_ws(':', 'tollgate', database(), ?), 256), ?) as locked`
    const values = [name, Math.ceil(wait / 1000)]
    const answer = await queryMysql(connection, { sql }, values, LONG_STATEMENT).catch((error) => {
      if (hasErrorKind(error, UNAVAILABLE_ERROR_KINDS, findMysqlErrorKind)) throw error
      return null
    })
    if (!answer || (answer.rows[0] as { locked: unknown }).locked === 1) return
    throw new WaitedTooLong(`Waited ${wait} ms for the lock "${name}"`)
  }

  async function unlock(connection: PoolConnection): Promise<boolean> {
    try {
      await queryMysql(connection, { sql: 'do release_all_locks()' }, [], timeout)
      await applySessionSettings(connection)
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
    connections: () => pool.connections(),
    close: () => pool.close(),
  }
}

const isolation = { sql: 'set session transaction isolation level read committed' }

/**
 * Settings that every connection needs, whatever the server's defaults are. The SQL mode must not
 * include NO_BACKSLASH_ESCAPES, because the driver escapes with backslashes. `timeout` is in
 * milliseconds, `idle` in seconds. Only MariaDB reads the text after `/*M!`, only MySQL the text
 * after `/*!80000`.
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

/**
 * Name of a collation that compares text exactly. The plain `utf8mb4_bin` of both products ignores
 * trailing spaces; these two do not.
 */
function exactCollation(version: string): string {
  const collation = /mariadb/i.test(version) ? 'utf8mb4_nopad_bin' : 'utf8mb4_0900_bin'
  return `character set utf8mb4 collate ${collation}`
}

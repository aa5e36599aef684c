import type { PoolConnection, ResultSetHeader } from 'mysql2'
import type { EngineOptions, Query, QueryResult } from './engine.ts'
import { isUniqueViolation, WaitedTooLong } from './errors.ts'
import { importDriver } from './import-driver.ts'

/** mysql2's pool, with an end to waiting, settled connections and an orderly close. */
export interface MysqlPool {
  take(): Promise<PoolConnection>
  /** Every connection taken comes back here once; a `broken` one is closed. */
  give(connection: PoolConnection, broken: boolean): void
  close(): Promise<void>
}

export async function openMysqlPool(
  url: string,
  { poolSize, timeout }: EngineOptions,
  settle: (connection: PoolConnection) => Promise<void>,
): Promise<MysqlPool> {
  const mysql = await importDriver('mysql2', () => import('mysql2'))
  const pool = mysql.default.createPool({
    uri: url.replace(/^mariadb:/i, 'mysql:'),
    connectionLimit: poolSize,
    connectTimeout: timeout,
    enableKeepAlive: true,
    keepAliveInitialDelay: 10_000,
    charset: 'utf8mb4_bin',
    timezone: 'Z',
    stringifyObjects: true,
    multipleStatements: false,
  })
  const settled = new WeakSet<PoolConnection>()
  let taken = 0
  let closing = false
  let onIdle: (() => void) | undefined

  async function take(): Promise<PoolConnection> {
    if (closing) throw new Error('Pool is closed.')
    const connection = await getConnection()
    taken++
    if (settled.has(connection)) return connection
    // Whoever waits on a connection that breaks is told by the query; unheard, the event would end
    // the process.
    connection.on('error', () => {})
    try {
      await settle(connection)
      settled.add(connection)
      return connection
    } catch (error) {
      give(connection, true)
      throw error
    }
  }

  function give(connection: PoolConnection, broken: boolean): void {
    taken--
    if (broken) connection.destroy()
    else connection.release()
    if (taken === 0) onIdle?.()
  }

  /** mysql2's pool lets callers wait for ever. */
  function getConnection(): Promise<PoolConnection> {
    return new Promise((resolve, reject) => {
      let gaveUp = false
      const timer = setTimeout(() => {
        gaveUp = true
        reject(new WaitedTooLong(`Waited ${timeout} ms for a connection to the database`))
      }, timeout)
      pool.getConnection((error, connection) => {
        clearTimeout(timer)
        if (error) reject(error)
        else if (gaveUp) connection.release()
        else resolve(connection)
      })
    })
  }

  async function close(): Promise<void> {
    closing = true
    if (taken > 0) {
      await new Promise<void>((resolve) => {
        onIdle = resolve
      })
    }
    // An error here is of a connection that could not say goodbye, which is gone all the same.
    await new Promise<void>((resolve) => pool.end(() => resolve()))
  }

  return { take, give, close }
}

/** Runs one query; `patience` is in milliseconds. */
export function askMysql(
  connection: PoolConnection,
  query: Query,
  values: unknown[],
  patience: number,
): Promise<QueryResult> {
  return new Promise((resolve, reject) => {
    const options = { sql: query.sql, values, timeout: patience }
    // `query` and not `execute`: as fast once prepared, a round trip less before that, and it sends
    // whole numbers as such where `execute` makes them floats.
    connection.query(options, (error, result) => {
      if (!error) {
        if (Array.isArray(result)) return resolve({ rows: result, affected: 0 })
        const { affectedRows, insertId } = result as ResultSetHeader
        resolve({ rows: [], affected: affectedRows, insertId })
      } else if (query.duplicateIsNoop && isUniqueViolation(error)) {
        resolve({ rows: [], affected: 0 })
      } else reject(error)
    })
  })
}

import type { PoolConnection, ResultSetHeader } from 'mysql2'
import { importDriver } from '../../connections/import-driver.ts'
import { takeConnection } from '../../connections/take-connection.ts'
import {
  SILENT_NETWORK_TIMEOUT_MS,
  trackUnansweredConnections,
} from '../../connections/unanswered.ts'
import { hasErrorKind, NoAnswer, NotPrimary } from '../../errors.ts'
import type { ConnectionCounts, EngineOptions, Query, QueryResult } from '../engine.ts'
import {
  createMysqlCanceller,
  FIND_OWN_THREAD_SQL,
  type OwnThread,
  type ServerThread,
} from './cancel.ts'
import { findMysqlErrorKind } from './errors.ts'

/**
 * mysql2's pool, extended with a timeout for callers, session settings on new connections and an
 * orderly close.
 */
export interface MysqlPool {
  take(): Promise<PoolConnection>
  /**
   * Returns a connection to the pool, or closes it if it is `broken`. Call it once for every
   * connection taken.
   */
  give(connection: PoolConnection, broken: boolean): void
  /** Closes all connections as soon as they are free. */
  renew(): void
  connections(): ConnectionCounts
  close(): Promise<void>
}

export async function openMysqlPool(
  url: string,
  { poolSize, timeout }: EngineOptions,
  applySessionSettings: (connection: PoolConnection) => Promise<void>,
): Promise<MysqlPool> {
  const mysql = await importDriver('mysql2', () => import('mysql2'))
  const uri = url.replace(/^mariadb:/i, 'mysql:')
  const pool = mysql.default.createPool({
    uri,
    connectionLimit: poolSize,
    // Callers give up earlier, but the attempt keeps its place in the pool, because the server may
    // have begun to respond.
    connectTimeout: Math.max(timeout, SILENT_NETWORK_TIMEOUT_MS),
    enableKeepAlive: true,
    keepAliveInitialDelay: 10_000,
    charset: 'utf8mb4_bin',
    timezone: 'Z',
    stringifyObjects: true,
    multipleStatements: false,
  })
  /** Incremented when all connections are to be replaced. */
  let generation = 0
  const openedIn = new WeakMap<PoolConnection, number>()
  const threads = new WeakMap<PoolConnection, ServerThread | undefined>()
  const cancel = createMysqlCanceller(
    () => mysql.default.createConnection({ uri, connectTimeout: timeout }),
    timeout,
  )
  const { config } = pool as unknown as { config: { connectionLimit: number } }
  const unansweredConnections = trackUnansweredConnections((more) => {
    config.connectionLimit += more
  })
  let taken = 0
  let waiting = 0
  let closing = false
  let onIdle: (() => void) | undefined

  async function take(): Promise<PoolConnection> {
    if (closing) throw new Error('Pool is closed.')
    waiting++
    const connection = await getConnection().finally(() => waiting--)
    taken++
    if (threads.has(connection)) {
      if (openedIn.get(connection) === generation) return connection
      free(connection, true)
      return take()
    }
    openedIn.set(connection, generation)
    // The query that uses a broken connection fails and informs its caller. Without a listener, the
    // event would end the process.
    connection.on('error', () => {})
    try {
      await applySessionSettings(connection)
      const { rows } = await queryMysql(connection, { sql: FIND_OWN_THREAD_SQL }, [], timeout)
      const own = rows[0] as OwnThread
      if (own.reason !== null) throw new NotPrimary(own.reason)
      threads.set(connection, own.id === null ? undefined : own)
      return connection
    } catch (error) {
      give(connection, true)
      throw error
    }
  }

  function give(connection: PoolConnection, broken: boolean): void {
    const answered = unanswered.get(connection)
    if (answered) hold(connection, answered)
    else free(connection, broken)
  }

  function free(connection: PoolConnection, broken: boolean): void {
    taken--
    if (broken) connection.destroy()
    else connection.release()
    if (taken === 0) onIdle?.()
  }

  /** Keeps the place in the pool of a connection that still waits for a response. */
  function hold(connection: PoolConnection, answered: Promise<void>): void {
    const thread = threads.get(connection)
    let asked = 0
    unansweredConnections.hold({
      answered,
      stop: async () => (thread ? cancel(thread, asked++ > 0) : 'silent'),
      close: () => free(connection, true),
    })
  }

  /** Takes a connection. mysql2's own pool has no timeout for waiting callers. */
  function getConnection(): Promise<PoolConnection> {
    return takeConnection(timeout, (done) => pool.getConnection(done))
  }

  async function close(): Promise<void> {
    closing = true
    unansweredConnections.close()
    if (taken > 0) {
      await new Promise<void>((resolve) => {
        onIdle = resolve
      })
    }
    // The only possible error is that a connection could not say goodbye; it is closed all the
    // same.
    await new Promise<void>((resolve) => pool.end(() => resolve()))
  }

  function renew(): void {
    generation++
  }

  const connections = () => ({ max: config.connectionLimit, inUse: taken, waiting })

  return { take, give, renew, connections, close }
}

/** Connections whose caller gave up before the response, with the promise of that response. */
const unanswered = new WeakMap<PoolConnection, Promise<void>>()

/** Runs one query, for at most `patience` milliseconds. */
export function queryMysql(
  connection: PoolConnection,
  query: Query,
  values: unknown[],
  patience: number,
): Promise<QueryResult> {
  return new Promise((resolve, reject) => {
    let answer: (() => void) | undefined
    const timer = setTimeout(() => {
      const answered = new Promise<void>((settle) => {
        answer = settle
      })
      unanswered.set(connection, answered)
      reject(new NoAnswer(`The database did not answer within ${Math.round(patience)} ms`))
    }, patience)
    const options = { sql: query.sql, values }
    // `query` instead of `execute`: it is as fast as a prepared statement, saves the round trip of
    // preparing, and sends integers as integers where `execute` turns them into floats.
    connection.query(options, (error, result) => {
      clearTimeout(timer)
      answer?.()
      if (!error) {
        if (Array.isArray(result)) return resolve({ rows: result, affected: 0 })
        const { affectedRows, insertId } = result as ResultSetHeader
        resolve({ rows: [], affected: affectedRows, insertId })
      } else if (query.duplicateIsNoop && hasErrorKind(error, ['duplicate'], findMysqlErrorKind)) {
        resolve({ rows: [], affected: 0 })
      } else reject(error)
    })
  })
}

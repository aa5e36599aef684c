import type { PoolConnection, ResultSetHeader } from 'mysql2'
import { importDriver } from '../../connections/import-driver.ts'
import { takeInTime } from '../../connections/take-in-time.ts'
import { createUnansweredConnections, SILENCE } from '../../connections/unanswered.ts'
import { hasKind, NoAnswer, NotPrimary } from '../../errors.ts'
import type { EngineOptions, Query, QueryResult } from '../engine.ts'
import {
  createMysqlCanceller,
  FIND_OWN_THREAD,
  type OwnThread,
  type ServerThread,
} from './cancel.ts'
import { errorKind } from './errors.ts'

/** mysql2's pool, with an end to waiting, settled connections and an orderly close. */
export interface MysqlPool {
  take(): Promise<PoolConnection>
  /** Every connection taken comes back here once; a `broken` one is closed. */
  give(connection: PoolConnection, broken: boolean): void
  /** Closes the connections there are as soon as they are free. */
  renew(): void
  close(): Promise<void>
}

export async function openMysqlPool(
  url: string,
  { poolSize, timeout }: EngineOptions,
  settle: (connection: PoolConnection) => Promise<void>,
): Promise<MysqlPool> {
  const mysql = await importDriver('mysql2', () => import('mysql2'))
  const uri = url.replace(/^mariadb:/i, 'mysql:')
  const pool = mysql.default.createPool({
    uri,
    connectionLimit: poolSize,
    // Callers give up earlier; the attempt keeps its place, as the server may have begun to answer it.
    connectTimeout: Math.max(timeout, SILENCE),
    enableKeepAlive: true,
    keepAliveInitialDelay: 10_000,
    charset: 'utf8mb4_bin',
    timezone: 'Z',
    stringifyObjects: true,
    multipleStatements: false,
  })
  /** Grows when all connections are to be replaced. */
  let generation = 0
  const openedIn = new WeakMap<PoolConnection, number>()
  const threads = new WeakMap<PoolConnection, ServerThread | undefined>()
  const cancel = createMysqlCanceller(
    () => mysql.default.createConnection({ uri, connectTimeout: timeout }),
    timeout,
  )
  const unansweredConnections = createUnansweredConnections((more) => {
    const { config } = pool as unknown as { config: { connectionLimit: number } }
    config.connectionLimit += more
  })
  let taken = 0
  let closing = false
  let onIdle: (() => void) | undefined

  async function take(): Promise<PoolConnection> {
    if (closing) throw new Error('Pool is closed.')
    const connection = await getConnection()
    taken++
    if (threads.has(connection)) {
      if (openedIn.get(connection) === generation) return connection
      free(connection, true)
      return take()
    }
    openedIn.set(connection, generation)
    // Whoever waits on a connection that breaks is told by the query; unheard, the event would end
    // the process.
    connection.on('error', () => {})
    try {
      await settle(connection)
      const { rows } = await askMysql(connection, { sql: FIND_OWN_THREAD }, [], timeout)
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

  /** A connection that still waits for its answer keeps its place in the pool. */
  function hold(connection: PoolConnection, answered: Promise<void>): void {
    const thread = threads.get(connection)
    let asked = 0
    unansweredConnections.hold({
      answered,
      stop: async () => (thread ? cancel(thread, asked++ > 0) : 'silent'),
      close: () => free(connection, true),
    })
  }

  /** mysql2's pool lets callers wait for ever. */
  function getConnection(): Promise<PoolConnection> {
    return takeInTime(timeout, (done) => pool.getConnection(done))
  }

  async function close(): Promise<void> {
    closing = true
    unansweredConnections.close()
    if (taken > 0) {
      await new Promise<void>((resolve) => {
        onIdle = resolve
      })
    }
    // An error here is of a connection that could not say goodbye, which is gone all the same.
    await new Promise<void>((resolve) => pool.end(() => resolve()))
  }

  function renew(): void {
    generation++
  }

  return { take, give, renew, close }
}

/** Connections whose caller gave up before the answer, which is still awaited here. */
const unanswered = new WeakMap<PoolConnection, Promise<void>>()

/** Runs one query; `patience` is in milliseconds. */
export function askMysql(
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
    // `query` and not `execute`: as fast once prepared, a round trip less before that, and it sends
    // whole numbers as such where `execute` makes them floats.
    connection.query(options, (error, result) => {
      clearTimeout(timer)
      answer?.()
      if (!error) {
        if (Array.isArray(result)) return resolve({ rows: result, affected: 0 })
        const { affectedRows, insertId } = result as ResultSetHeader
        resolve({ rows: [], affected: affectedRows, insertId })
      } else if (query.duplicateIsNoop && hasKind(error, ['duplicate'], errorKind)) {
        resolve({ rows: [], affected: 0 })
      } else reject(error)
    })
  })
}

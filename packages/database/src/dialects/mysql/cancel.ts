import type { Connection, RowDataPacket } from 'mysql2'
import type { StopResult } from '../../connections/unanswered.ts'
import { NOT_PRIMARY_REASON_SQL } from './primary.ts'

/** Identifies one of our connections to the server. */
export interface ServerThread {
  readonly id: number
  /**
   * Client address of the connection, as the server sees it. Needed because after a failover the
   * thread's id may belong to another client's connection.
   */
  readonly host: string
}

/**
 * Query that every new connection sends. It returns the connection's own thread and the reason why
 * the server is not the primary, if it is not. Behind a proxy that assigns its own thread ids, `id`
 * and `host` may be `null`.
 */
export const FIND_OWN_THREAD_SQL = `select thread.id, thread.host, ${NOT_PRIMARY_REASON_SQL} as reason
  from (select 1) as here
  left join information_schema.processlist as thread on thread.id = connection_id()`

/** The single row that `FIND_OWN_THREAD_SQL` returns. */
export type OwnThread = { readonly reason: string | null } & (
  | ServerThread
  | { readonly [Name in keyof ServerThread]: null }
)

interface Request {
  readonly thread: ServerThread
  /** Whether to end the connection too, because ending its statement was not enough. */
  readonly hard: boolean
  resolve(result: StopResult): void
}

/**
 * Creates a function that stops the statement of another connection of this process. One
 * connection, opened on demand, serves all concurrent requests.
 */
export function createMysqlCanceller(
  open: () => Connection,
  patience: number,
): (thread: ServerThread, hard: boolean) => Promise<StopResult> {
  let waiting: Request[] = []
  let isBusy = false

  async function serve(): Promise<void> {
    isBusy = true
    while (waiting.length > 0) {
      const requests = waiting
      waiting = []
      const spare = open()
      spare.on('error', () => {})
      let isLate = false
      const timer = setTimeout(() => {
        isLate = true
        spare.destroy()
        for (const { resolve } of requests) resolve('silent')
      }, patience)
      for (const request of requests) {
        if (isLate) break
        request.resolve(await stop(spare, request).catch((): StopResult => 'silent'))
      }
      clearTimeout(timer)
      spare.destroy()
    }
    isBusy = false
  }

  return (thread, hard) =>
    new Promise((resolve) => {
      waiting.push({ thread, hard, resolve })
      if (!isBusy) void serve()
    })
}

async function stop(spare: Connection, { thread, hard }: Request): Promise<StopResult> {
  const find = 'select id from information_schema.processlist where id = ? and host = ?'
  const found = await query(spare, find, [thread.id, thread.host])
  if (found.length === 0) return 'gone'
  await query(spare, hard ? 'kill ?' : 'kill query ?', [thread.id])
  return 'heard'
}

function query(connection: Connection, sql: string, values: unknown[]): Promise<RowDataPacket[]> {
  return new Promise((resolve, reject) => {
    connection.query<RowDataPacket[]>(sql, values, (error, rows) =>
      error ? reject(error) : resolve(rows),
    )
  })
}

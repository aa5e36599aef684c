import type { PoolClient } from 'pg'
import type { StopResult } from '../../connections/unanswered.ts'

type Driver = typeof import('pg').default

/** Properties of `pg` clients that the typings omit. */
interface ServerProcess {
  readonly processID: number | null
  readonly secretKey: number | null
  readonly sslNegotiation?: string
}
interface CancelConnection {
  connect(portOrPath: number | string, host?: string): void
  requestSsl(): void
  cancel(processID: number, secretKey: number): void
}

/**
 * Sends a CancelRequest over a separate connection. It carries a secret of the connection that it
 * cancels, so it can never stop another connection's statement, not even behind PgBouncer or after
 * a failover. The server closes the connection without a response, whether or not there was
 * something to cancel.
 */
export function cancelPostgres(
  driver: Driver,
  client: PoolClient,
  patience: number,
): Promise<StopResult> {
  const { processID, secretKey, sslNegotiation } = client as unknown as ServerProcess
  if (processID === null || secretKey === null) return Promise.resolve('silent')
  const { host, port, ssl } = client
  const connection = new driver.Connection({ ssl })
  const wire = connection as unknown as CancelConnection
  return new Promise((resolve) => {
    let isSent = false
    const finish = (result: StopResult) => {
      clearTimeout(timer)
      resolve(result)
      connection.stream.destroy()
    }
    const timer = setTimeout(() => finish('silent'), patience)
    const send = () => {
      isSent = true
      wire.cancel(processID, secretKey)
    }
    connection.on('connect', () => {
      if (!ssl) send()
      else if (sslNegotiation !== 'direct') wire.requestSsl()
    })
    connection.on('sslconnect', send)
    connection.on('error', () => finish('silent'))
    connection.on('end', () => finish(isSent ? 'heard' : 'silent'))
    if (host.startsWith('/')) wire.connect(`${host}/.s.PGSQL.${port}`)
    else wire.connect(port, host)
  })
}

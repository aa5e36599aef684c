import { WaitedTooLong } from '../errors.ts'

/**
 * Takes a connection from a driver's pool within `timeout` milliseconds. A connection that arrives
 * after the timeout is released to the pool.
 * @throws {WaitedTooLong} after the timeout.
 */
export function takeConnection<Connection extends { release(): void }>(
  timeout: number,
  take: (done: (error: unknown, connection: Connection | undefined) => void) => void,
): Promise<Connection> {
  return new Promise((resolve, reject) => {
    let gaveUp = false
    const timer = setTimeout(() => {
      gaveUp = true
      reject(new WaitedTooLong(`Waited ${timeout} ms for a connection to the database`))
    }, timeout)
    take((error, connection) => {
      clearTimeout(timer)
      if (!connection) reject(error)
      else if (gaveUp) connection.release()
      else resolve(connection)
    })
  })
}

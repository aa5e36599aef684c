import { WaitedTooLong } from '../errors.ts'

/**
 * A connection of a driver's pool, with an end to waiting. One that comes after its caller gave up goes
 * back to the pool.
 */
export function takeInTime<Connection extends { release(): void }>(
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

import { Connection } from './connection.mjs'

/**
 * Requests of one connection. `request()` returns the next request. `check(response)` throws if the
 * response is not the expected one, and otherwise returns the number of completed units. `begin()`
 * discards units that were half done when the last round ended.
 * @typedef {{ begin?(): void, request(): string, check(response:
 * import('./connection.mjs').Response): number }} Script
 */

/**
 * Drives a server with one request in flight per script, and counts the units completed between the
 * end of the lead-in and the end of the round, when every connection is busy. `latencies` are the
 * milliseconds that each unit took, from sending its first request until its last response was read; those
 * in flight at the end are waited for, because the slowest would be missing otherwise.
 * @param {{ port: number, scripts: Script[], leadIn: number, seconds: number,
 *   onWindow?: (edge: 'start' | 'end') => Promise<void> | void }} round
 * @returns {Promise<{ units: number, seconds: number, perSecond: number, latencies: number[] }>}
 */
export async function runRound({ port, scripts, leadIn, seconds, onWindow }) {
  let units = 0
  let latencies = []
  let stopping = false
  const loops = scripts.map((script) => drive(new Connection(port), script))
  const finished = Promise.all(loops)
  finished.catch(() => {
    stopping = true
  })
  await Promise.race([sleep(leadIn), finished])
  const startUnits = units
  latencies = []
  const start = performance.now()
  onWindow?.('start')
  await Promise.race([sleep(seconds), finished])
  const counted = units - startUnits
  const elapsed = (performance.now() - start) / 1000
  onWindow?.('end')
  stopping = true
  await finished
  return { units: counted, seconds: elapsed, perSecond: counted / elapsed, latencies }

  function drive(connection, script) {
    return new Promise((resolve, reject) => {
      const fail = (error) => {
        connection.close()
        reject(error)
      }
      const respond = (response) => {
        try {
          const completed = script.check(response)
          if (completed > 0) {
            const now = performance.now()
            latencies.push(now - begunAt)
            begunAt = now
          }
          units += completed
          if (stopping) {
            connection.close()
            resolve()
          } else connection.send(script.request(), respond, fail)
        } catch (error) {
          fail(error)
        }
      }
      script.begin?.()
      let begunAt = performance.now()
      connection.send(script.request(), respond, fail)
    })
  }
}

/** Drives each script until it has completed one unit, before anything is measured. */
export async function runOnce({ port, scripts }) {
  await Promise.all(
    scripts.map(
      (script) =>
        new Promise((resolve, reject) => {
          const connection = new Connection(port)
          const done = (settle, value) => {
            connection.close()
            settle(value)
          }
          const respond = (response) => {
            try {
              if (script.check(response) > 0) done(resolve)
              else connection.send(script.request(), respond, (error) => done(reject, error))
            } catch (error) {
              done(reject, error)
            }
          }
          connection.send(script.request(), respond, (error) => done(reject, error))
        }),
    ),
  )
}

const sleep = (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000))

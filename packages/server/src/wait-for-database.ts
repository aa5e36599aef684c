import { setTimeout as sleep } from 'node:timers/promises'
import { isUnavailable } from '@tollgate/database'
import type { Logger } from 'pino'

const FIRST_PAUSE = 250
const LONGEST_PAUSE = 2000

/**
 * Makes a function that repeats its work while the database is away. All of its calls share one time limit, after
 * which they fail as they would have at once.
 */
export function createDatabaseWait(
  seconds: number,
  logger: Logger,
): <Result>(work: () => Promise<Result>) => Promise<Result> {
  const until = performance.now() + seconds * 1000
  let isTold = false

  return async (work) => {
    for (let pause = FIRST_PAUSE; ; pause = Math.min(pause * 2, LONGEST_PAUSE)) {
      try {
        return await work()
      } catch (error) {
        const left = until - performance.now()
        if (!isUnavailable(error) || left <= 0) throw error
        if (!isTold) {
          const reason = error instanceof Error ? error.message : String(error)
          logger.warn({ reason, seconds }, 'Waiting for the database')
          isTold = true
        }
        await sleep(Math.min(pause, left))
      }
    }
  }
}

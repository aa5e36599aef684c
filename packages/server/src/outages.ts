import { setTimeout as sleep } from 'node:timers/promises'
import { isUnavailable } from '@tollgate/database'
import type { Logger } from 'pino'

/**
 * Detects outages: periods in which requests and jobs fail because the database is unavailable or
 * too slow.
 */
export interface OutageDetector {
  /** Records a failure that was caused by the database. The first failure begins an outage. */
  notice(error?: unknown): void
  /**
   * Starts logging the beginning and end of outages. `isWell` must tell whether the database serves
   * requests again.
   */
  watch(logger: Logger, isWell: () => Promise<boolean>): void
  close(): void
}

/** Milliseconds between checks. */
const CHECK_INTERVAL = 1000
/**
 * Milliseconds without a failure before an outage may end, so that one outage is not logged as
 * many.
 */
const QUIET_PERIOD = 3000

const BEGINS =
  'The database is unavailable or too slow: requests that need it are answered with 503 until it recovers'
const ENDS = 'The database is available again'

/**
 * Creates a detector of database outages, which logs one warning when an outage begins and one when
 * it ends, instead of an error for each failure.
 */
export function createOutageDetector({
  checkInterval = CHECK_INTERVAL,
  quietPeriod = QUIET_PERIOD,
} = {}): OutageDetector {
  let outage: { readonly since: number; last: number; failures: number } | null = null
  let watching: { readonly logger: Logger; readonly isWell: () => Promise<boolean> } | null = null
  let timer: ReturnType<typeof setTimeout> | undefined

  function checkLater(): void {
    timer = setTimeout(() => void check(), checkInterval)
    timer.unref()
  }

  async function check(): Promise<void> {
    if (!outage || !watching) return
    const { last } = outage
    const isQuiet = performance.now() - last >= quietPeriod
    if (!isQuiet || !(await watching.isWell()) || outage.last !== last) return checkLater()
    const seconds = Math.round((performance.now() - outage.since) / 1000)
    watching.logger.warn({ seconds, failures: outage.failures }, ENDS)
    outage = null
  }

  return {
    notice(error) {
      const now = performance.now()
      if (outage) {
        outage.last = now
        outage.failures += 1
        return
      }
      outage = { since: now, last: now, failures: 1 }
      watching?.logger.warn(error === undefined ? {} : { reason: messageOf(error) }, BEGINS)
      checkLater()
    },
    watch(logger, isWell) {
      watching = { logger, isWell }
    },
    close() {
      clearTimeout(timer)
      watching = null
    },
  }
}

function messageOf(error: unknown): string {
  const { message, cause } = error instanceof Error ? error : new Error(String(error))
  return cause instanceof Error && cause.message ? `${message}: ${cause.message}` : message
}

const FIRST_PAUSE = 250
const LONGEST_PAUSE = 2000

/**
 * Returns a function that retries its work while the database is unavailable. All calls share one
 * time limit, after which errors are thrown immediately.
 */
export function createDatabaseWait(
  seconds: number,
  logger: Logger,
): <Result>(work: () => Promise<Result>) => Promise<Result> {
  const until = performance.now() + seconds * 1000
  let isLogged = false

  return async (work) => {
    for (let pause = FIRST_PAUSE; ; pause = Math.min(pause * 2, LONGEST_PAUSE)) {
      try {
        return await work()
      } catch (error) {
        const left = until - performance.now()
        if (!isUnavailable(error) || left <= 0) throw error
        if (!isLogged) {
          const reason = error instanceof Error ? error.message : String(error)
          logger.warn({ reason, seconds }, 'Waiting for the database')
          isLogged = true
        }
        await sleep(Math.min(pause, left))
      }
    }
  }
}

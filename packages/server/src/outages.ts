import type { Logger } from 'pino'

/** Follows times in which requests and jobs fail because the database is away or too slow. */
export interface Outages {
  /** Counts a failure for lack of the database. The first one begins an outage. */
  notice(error?: unknown): void
  /** Logs when outages begin and end. `isWell` finds out whether the database takes requests again. */
  watch(logger: Logger, isWell: () => Promise<boolean>): void
  close(): void
}

/** Milliseconds. */
const LOOK_EVERY = 1000
/** Milliseconds without a failure before an outage may be over, so that one outage is not told as many. */
const CALM = 3000

const BEGINS =
  'The database is away or too slow: requests that need it are answered with 503 until it is back'
const ENDS = 'The database is back'

/** One warning when an outage begins and one when it ends, instead of an error for each failure in between. */
export function createOutages({ lookEvery = LOOK_EVERY, calm = CALM } = {}): Outages {
  let outage: { readonly since: number; last: number; failures: number } | null = null
  let watching: { readonly logger: Logger; readonly isWell: () => Promise<boolean> } | null = null
  let timer: ReturnType<typeof setTimeout> | undefined

  function lookLater(): void {
    timer = setTimeout(() => void look(), lookEvery)
    timer.unref()
  }

  async function look(): Promise<void> {
    if (!outage || !watching) return
    const { last } = outage
    const isCalm = performance.now() - last >= calm
    if (!isCalm || !(await watching.isWell()) || outage.last !== last) return lookLater()
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
      lookLater()
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

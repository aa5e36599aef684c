import { CLOCK_SKEW_MS, isClockTrusted } from '../clock.ts'
import type { ServerContext } from '../context.ts'

/** Number of rows per statement. Small enough not to block other requests (threat L3). */
const BATCH = 500
/** How long expired rows are kept, in milliseconds, so that a late replay is still recognized. */
const RETENTION = 24 * 3600 * 1000
const LARGEST_CLOCK_JUMP = 3600 * 1000
const EXPIRED_INTERVAL = 60_000

/**
 * Deletes all expired rows, in small batches, and returns their number. Before that, appends to the
 * revocation feed that everything which had expired by that time stays invalid, even if the clock
 * was wrong and is set back.
 */
export async function purgeExpiredRows(context: ServerContext): Promise<number> {
  const { clock } = context
  await clock.check?.()
  const settled = clock.settled?.() ?? clock.now()
  const before = new Date(settled.getTime() - RETENTION)
  const mark = await context.storage.revocations.markEnded(before)
  if (mark) context.feed.note(mark)
  const ended = await deleteInBatches((limit) => context.storage.purge(before, limit))
  return ended + (await purgeTicketsAndCounters(context))
}

/**
 * Deletes expired tickets and counters, and returns the number of rows. They are deleted soon after
 * they expire, not a day later like other rows, because unauthenticated callers can create many of
 * them.
 */
export async function purgeTicketsAndCounters({ storage, clock }: ServerContext): Promise<number> {
  await clock.check?.()
  const settled = clock.settled?.() ?? clock.now()
  // Keeps what another process, whose clock may be behind, still accepts.
  const before = new Date(settled.getTime() - CLOCK_SKEW_MS)
  return deleteInBatches((limit) => storage.purgeExpired(before, limit))
}

/** Deletes in small batches, and lets other work run in between. */
async function deleteInBatches(deleteSome: (limit: number) => Promise<number>): Promise<number> {
  let total = 0
  for (;;) {
    const deleted = await deleteSome(BATCH)
    total += deleted
    if (deleted === 0) return total
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/**
 * Runs `purgeExpiredRows()` at the interval of the option `purgeEvery`, and
 * `purgeTicketsAndCounters()` at least every minute. Returns a function that stops both. Skips a
 * run if a clock is wrong, so that nothing is deleted that has not expired.
 */
export function schedulePurge(context: ServerContext): () => void {
  const { purgeEverySeconds, logger, clock } = context.options
  if (purgeEverySeconds === null) return () => {}
  const offset = Date.now() - performance.now()
  const run = async (work: (context: ServerContext) => Promise<number>) => {
    const jump = Math.abs(Date.now() - performance.now() - offset)
    // Compares only the clocks of this process, because a store without a clock offers nothing
    // else.
    if (!clock.check && jump > LARGEST_CLOCK_JUMP) {
      logger.error(`Purge skipped: the system clock moved by ${Math.round(jump / 60_000)} minutes`)
      return
    }
    if (!(await isClockTrusted(clock))) return
    work(context).catch((error) => logger.error('Purge failed and will be tried again', error))
  }
  const every = Math.min(purgeEverySeconds * 1000, 2 ** 31 - 1)
  const timers = [
    setInterval(run, every, purgeExpiredRows),
    setInterval(run, Math.min(every, EXPIRED_INTERVAL), purgeTicketsAndCounters),
  ]
  for (const timer of timers) timer.unref?.()
  return () => {
    for (const timer of timers) clearInterval(timer)
  }
}

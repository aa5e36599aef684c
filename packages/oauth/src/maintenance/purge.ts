import { CLOCK_SKEW, isTrusted } from '../clock.ts'
import type { ServerContext } from '../context.ts'

/** Small enough that nobody else waits for it (threat L3). */
const BATCH = 500
/** What has ended stays a little, so that a late replay is still recognised. */
const KEPT_AFTER_END = 24 * 3600 * 1000
const LARGEST_CLOCK_JUMP = 3600 * 1000
const EXPIRED_EVERY = 60_000

/**
 * Deletes everything that ended, in small batches; says how many rows. The mark it leaves first keeps
 * ended what the clock says has ended, should the clock turn out to be wrong and go back.
 */
export async function purge(context: ServerContext): Promise<number> {
  const { clock } = context
  await clock.check?.()
  const settled = clock.settled?.() ?? clock.now()
  const before = new Date(settled.getTime() - KEPT_AFTER_END)
  const mark = await context.storage.revocations.markEnded(before)
  if (mark) context.feed.note(mark)
  const ended = await repeat((limit) => context.storage.purge(before, limit))
  return ended + (await purgeExpired(context))
}

/**
 * Deletes tickets and counts that have expired; says how many rows. Nothing replaces the day that others are kept for,
 * because strangers can make as many of these as their limits allow.
 */
export async function purgeExpired({ storage, clock }: ServerContext): Promise<number> {
  await clock.check?.()
  const settled = clock.settled?.() ?? clock.now()
  // Another process, whose clock may be behind, must not miss what it would still take.
  const before = new Date(settled.getTime() - CLOCK_SKEW)
  return repeat((limit) => storage.purgeExpired(before, limit))
}

/** In small batches, and others get their turn in between. */
async function repeat(deleteSome: (limit: number) => Promise<number>): Promise<number> {
  let total = 0
  for (;;) {
    const deleted = await deleteSome(BATCH)
    total += deleted
    if (deleted === 0) return total
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** Runs `purge` every so often and `purgeExpired` every minute, unless a clock is wrong: then nothing may look ended by mistake. */
export function schedulePurge(context: ServerContext): () => void {
  const { purgeEverySeconds, logger, clock } = context.options
  if (purgeEverySeconds === null) return () => {}
  const offset = Date.now() - performance.now()
  const run = async (work: (context: ServerContext) => Promise<number>) => {
    const jump = Math.abs(Date.now() - performance.now() - offset)
    // A store without a clock leaves nothing else to compare with.
    if (!clock.check && jump > LARGEST_CLOCK_JUMP) {
      logger.error(`Purge skipped: the system clock moved by ${Math.round(jump / 60_000)} minutes`)
      return
    }
    if (!(await isTrusted(clock))) return
    work(context).catch((error) => logger.error('Purge failed and will be tried again', error))
  }
  const every = Math.min(purgeEverySeconds * 1000, 2 ** 31 - 1)
  const timers = [
    setInterval(run, every, purge),
    setInterval(run, Math.min(every, EXPIRED_EVERY), purgeExpired),
  ]
  for (const timer of timers) timer.unref?.()
  return () => {
    for (const timer of timers) clearInterval(timer)
  }
}

import type { ServerContext } from '../context.ts'

/** Small enough that nobody else waits for it (threat L3). */
const BATCH = 500
/** What has ended stays a little, so that a late replay is still recognised. */
const KEPT_AFTER_END = 24 * 3600 * 1000
const LARGEST_CLOCK_JUMP = 3600 * 1000

/**
 * Deletes everything that ended, in small batches; says how many rows. The mark it leaves first keeps
 * ended what the clock says has ended, should the clock turn out to be wrong and go back.
 */
export async function purge(context: ServerContext): Promise<number> {
  const before = new Date(context.options.clock.now().getTime() - KEPT_AFTER_END)
  const mark = await context.storage.revocations.markEnded(before)
  if (mark) context.feed.note(mark)
  let total = 0
  for (;;) {
    const deleted = await context.storage.purge(before, BATCH)
    total += deleted
    if (deleted === 0) break
    await new Promise((resolve) => setImmediate(resolve))
  }
  return total
}

/** Runs `purge` every so often, unless the clock has jumped: then nothing may look ended by mistake. */
export function schedulePurge(context: ServerContext): () => void {
  const { purgeEverySeconds, logger } = context.options
  if (purgeEverySeconds === null) return () => {}
  const offset = Date.now() - performance.now()
  const every = Math.min(purgeEverySeconds * 1000, 2 ** 31 - 1)
  const timer = setInterval(() => {
    const jump = Math.abs(Date.now() - performance.now() - offset)
    if (jump > LARGEST_CLOCK_JUMP) {
      logger.error(`Purge skipped: the system clock moved by ${Math.round(jump / 60_000)} minutes`)
      return
    }
    purge(context).catch((error) => logger.error('Purge failed and will be tried again', error))
  }, every)
  timer.unref?.()
  return () => clearInterval(timer)
}

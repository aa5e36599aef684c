import { isClockTrusted } from '../clock.ts'
import type { ServerContext } from '../context.ts'

/** Interval for retries, in milliseconds. New deliveries are sent immediately. */
const INTERVAL = 10_000

/** Sends everything that is due, such as logout tokens. Returns how many deliveries were made. */
export async function sendDueDeliveries(context: ServerContext): Promise<number> {
  await context.clock.check?.()
  let total = 0
  for (const feature of context.features.deliverers) {
    total += (await feature.deliver?.(context)) ?? 0
  }
  return total
}

/**
 * Runs `sendDueDeliveries()` every ten seconds, one run at a time. Returns a function that stops
 * it.
 */
export function scheduleDeliveries(context: ServerContext): () => void {
  if (context.features.deliverers.length === 0) return () => {}
  let busy = false
  const timer = setInterval(() => {
    if (busy) return
    busy = true
    isClockTrusted(context.clock)
      .then((trusted) => (trusted ? sendDueDeliveries(context) : 0))
      .catch((error) => context.logger.error('A delivery failed and will be tried again', error))
      .finally(() => {
        busy = false
      })
  }, INTERVAL)
  timer.unref?.()
  return () => clearInterval(timer)
}

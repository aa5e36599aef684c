import { isTrusted } from '../clock.ts'
import type { ServerContext } from '../context.ts'

/** Often enough for what is sent again; what is new is sent at once. */
const EVERY = 10_000

/** Sends everything that is due to be sent to others; says how many were. */
export async function deliver(context: ServerContext): Promise<number> {
  await context.clock.check?.()
  let total = 0
  for (const feature of context.features.deliverers) {
    total += (await feature.deliver?.(context)) ?? 0
  }
  return total
}

/** Runs `deliver` every so often, one at a time. */
export function scheduleDeliveries(context: ServerContext): () => void {
  if (context.features.deliverers.length === 0) return () => {}
  let busy = false
  const timer = setInterval(() => {
    if (busy) return
    busy = true
    isTrusted(context.clock)
      .then((trusted) => (trusted ? deliver(context) : 0))
      .catch((error) => context.logger.error('A delivery failed and will be tried again', error))
      .finally(() => {
        busy = false
      })
  }, EVERY)
  timer.unref?.()
  return () => clearInterval(timer)
}

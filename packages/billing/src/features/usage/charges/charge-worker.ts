import type { BillingContext } from '../../../core/context.ts'
import type { ProviderName } from '../../../core/values/provider-name.ts'
import { createWorker } from '../../../core/worker.ts'
import { createWorkerSettings } from '../../../options.ts'
import type { UsageChargeWorker } from '../usage-queue.ts'
import { chargeUsage } from './charge-usage.ts'
import { createChargedUsageRepository } from './charged-usage-rows.ts'

/** Longest pause between attempts, in seconds. */
const LONGEST_PAUSE = 15 * 60

/**
 * Creates the worker that charges the usage that billing itself counts at this provider, one
 * subscription after the other.
 */
export function createUsageChargeWorker(
  context: BillingContext,
  provider: ProviderName,
  ready: () => Promise<void>,
): UsageChargeWorker {
  const { options, subscriptions } = context
  const usage = createChargedUsageRepository(options.database, provider)
  const idleUntil = new Map<number, Date>()
  const patient = {
    ...createWorkerSettings(options, ready),
    attempts: Number.POSITIVE_INFINITY,
    longestPause: LONGEST_PAUSE,
  }
  const worker = createWorker(patient, {
    what: 'usage',
    queue: usage,
    nameOf: ({ id }) => `of subscription ${id}`,
    async work({ id }) {
      const record = await subscriptions.find(id)
      if (!record) return context.usage.refuse(id, null, 'There is no such subscription any more')
      const until = await chargeUsage(context, record)
      if (idleUntil.size > 10_000) idleUntil.clear()
      idleUntil.set(id, until)
    },
  })
  return {
    worker,
    dueAt: (id) => idleUntil.get(id) ?? null,
    async makeDue(ids, tx) {
      for (const id of ids) {
        idleUntil.delete(id)
        await usage.makeDue(id, options.clock.now(), tx)
      }
    },
  }
}

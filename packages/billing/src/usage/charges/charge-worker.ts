import type { BillingContext } from '../../context.ts'
import { createWorker } from '../../events/worker.ts'
import { workerSettings } from '../../options.ts'
import type { ProviderName } from '../../provider-name.ts'
import { chargedUsageRepository } from '../../storage/queues/charged-usage.ts'
import type { ServedUsage } from '../usage-outbox.ts'
import { chargeUsage } from './charge-usage.ts'

/** Seconds. */
const LONGEST_PAUSE = 15 * 60

/** Charges what was used where we count it, one subscription after the other. */
export function createChargeWorker(
  context: BillingContext,
  provider: ProviderName,
  ready: () => Promise<void>,
): ServedUsage {
  const { options, subscriptions } = context
  const usage = chargedUsageRepository(options.database, provider)
  const idleUntil = new Map<number, Date>()
  const patient = {
    ...workerSettings(options, ready),
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

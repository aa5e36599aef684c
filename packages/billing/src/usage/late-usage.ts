import type { StoredUsage } from '../storage/queues/usage.ts'
import type { Logger } from '../values/logger.ts'
import { isOld, isTooLate } from '../values/usage.ts'
import type { SenderContext } from './send-usage.ts'

/**
 * What was used in a period that is billed already is counted by the provider, and on no bill. Said where the report names a
 * subscription; what was used within the last hour is in time.
 */
export async function warnOfLate(
  context: SenderContext & { readonly settings: { readonly logger: Logger } },
  sent: readonly StoredUsage[],
  now: Date,
): Promise<void> {
  const { logger } = context.settings
  const begun = new Map<number, Promise<Date | null>>()
  for (const usage of sent) {
    const { subscriptionId, at, meter, reference } = usage
    if (subscriptionId === null || !isOld(at, now)) continue
    const reading = begun.get(subscriptionId) ?? periodStart(context, usage).catch(() => null)
    begun.set(subscriptionId, reading)
    const startsAt = await reading
    if (!startsAt || !isTooLate(at, startsAt, now)) continue
    const words = `Usage ${meter} (${reference}) of ${at.toISOString()} came too late: that period was billed on ${startsAt.toISOString()}, so it is counted and not billed`
    if (logger.warn) logger.warn(words)
    else logger.error(words)
  }
}

async function periodStart(
  { subscriptions, gateway }: SenderContext,
  { owner, provider, subscriptionId }: StoredUsage,
): Promise<Date | null> {
  const all = await subscriptions.listByOwner(owner)
  const row = all.find(({ id }) => id === subscriptionId)
  const found = row ? await (await gateway(provider)).findSubscription(row.providerId) : null
  if (!found) return null
  return (found.isOver ? found.endsAt : found.periodStartsAt) ?? null
}

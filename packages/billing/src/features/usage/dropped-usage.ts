import type { BillingContext } from '../../core/context.ts'
import type { Gateway } from '../../providers/gateway.ts'
import { isChargedByUs } from './contract.ts'

/**
 * Marks usage reports that the provider accepted at first and dropped later as refused. The
 * provider names only some of the reports. The number of the others is logged.
 */
export async function refuseDroppedUsage(
  { usage: queue, options }: BillingContext,
  { name, usage }: Gateway,
  event: unknown,
): Promise<void> {
  if (!usage || isChargedByUs(usage) || !usage.readDropped) return
  const { named, count, summary } = await usage.readDropped(event)
  const others = count - (await queue.refuseDropped(name, named))
  if (others <= 0) return
  options.logger.error(
    `${name} does not bill ${others} reports of usage that it accepted, and does not identify them: ${summary}`,
  )
}

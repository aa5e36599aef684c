import type { BillingContext } from '../context.ts'
import type { Gateway } from '../gateways/contract/gateway.ts'
import { isChargedByUs } from '../gateways/contract/parts/money/usage.ts'

/** Usage that the provider took, and dropped later: what it names is refused, and the rest is at least said. */
export async function refuseDropped(
  { usage: queue, options }: BillingContext,
  { name, usage }: Gateway,
  event: unknown,
): Promise<void> {
  if (!usage || isChargedByUs(usage) || !usage.readDropped) return
  const { named, count, summary } = await usage.readDropped(event)
  const others = count - (await queue.refuseTaken(name, named))
  if (others <= 0) return
  options.logger.error(
    `${name} does not bill ${others} reports of usage that it took, and does not say which of ours they are: ${summary}`,
  )
}

import { Busy } from '../../core/errors/errors.ts'
import type { ChangeAtProvider, SubscriptionScope } from '../../core/subscription-scope.ts'
import type { ProviderSubscription } from '../../providers/subscription.ts'
import { isChargedByUs } from './contract.ts'

/**
 * Wraps a change of a subscription that makes the provider bill its usage, so that waiting usage
 * reports are sent first. Sent after the change, they would be counted but not billed. Throws Busy
 * before anything is changed or stored if they cannot be sent.
 */
export function sendUsageFirst(
  subscription: SubscriptionScope,
  change: ChangeAtProvider,
): ChangeAtProvider {
  return async (current) => {
    // A repeated call after the end has nothing to wait for.
    if (!current.found.isOver) await sendUsage(subscription, current.found)
    await change(current)
  }
}

async function sendUsage(
  { context, record: { owner, provider } }: SubscriptionScope,
  { items = [] }: ProviderSubscription,
): Promise<void> {
  const metered = items.filter(({ isMetered }) => isMetered)
  const { usage } = await context.gateway(provider)
  if (metered.length === 0 || !usage || isChargedByUs(usage)) return
  const waiting = await context.usage.waiting(owner, provider)
  if (waiting.length === 0) return
  const meters = await Promise.all(metered.map(({ price }) => usage.meterOf(price)))
  const billed = waiting.filter(({ meter }) => meters.includes(meter))
  const unsent = await context.usage.sendNow(provider, billed)
  if (unsent === 0) return
  throw new Busy(
    `${unsent === 1 ? '1 report' : `${unsent} reports`} of usage cannot be sent to ${provider} now, and would not be billed after this change: try again, or see billing.usage.pending()`,
  )
}

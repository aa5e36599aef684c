import { Busy } from '../errors.ts'
import { isChargedByUs } from '../gateways/contract/parts/money/usage.ts'
import type { ProviderSubscription } from '../gateways/contract/subscription.ts'
import type { ChangeAtProvider } from './change.ts'
import type { SubscriptionScope } from './subscription-scope.ts'

/**
 * A change with which the provider bills what was used until then: what it gets later would be counted, and not billed. So
 * what waits is sent before anything is changed or put on record; Busy where that does not succeed.
 */
export function usageFirst(
  subscription: SubscriptionScope,
  change: ChangeAtProvider,
): ChangeAtProvider {
  return async (current) => {
    // A repeat of what is done already has nothing to wait for.
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

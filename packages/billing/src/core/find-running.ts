import type { ProviderSubscription } from '../providers/subscription.ts'
import type { BillingContext } from './context.ts'
import { refreshSubscriptionRow } from './converge.ts'
import type { LockedOwner } from './locked-owner.ts'
import type { SubscriptionRecord } from './storage/tables.ts'
import { hasSubscriptionEnded } from './values/subscription-state.ts'

export interface RunningSubscription {
  readonly record: SubscriptionRecord
  readonly found: ProviderSubscription
}

/**
 * Reads the owner's newest subscription with this name from the provider. `null` if there is none,
 * or if it has ended.
 */
export async function findRunningSubscription(
  context: BillingContext,
  locked: LockedOwner,
  name: string,
): Promise<RunningSubscription | null> {
  const { subscriptions, options } = context
  const row = await subscriptions.findByName(locked.owner, name)
  const now = options.clock.now()
  if (!row || hasSubscriptionEnded(row, now)) return null
  const found = await refreshSubscriptionRow(context, locked, row)
  const record = await subscriptions.findByProvider(row.provider, row.providerId)
  return found && record && !hasSubscriptionEnded(record, now) ? { record, found } : null
}

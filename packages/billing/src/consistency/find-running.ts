import type { BillingContext } from '../context.ts'
import type { ProviderSubscription } from '../gateways/contract/subscription.ts'
import type { SubscriptionRecord } from '../storage/tables.ts'
import { ended } from '../values/subscription-state.ts'
import { converge } from './converge.ts'
import type { LockedOwner } from './owner-lock.ts'

export interface Running {
  readonly record: SubscriptionRecord
  readonly found: ProviderSubscription
}

/** The newest of that name as the provider has it now; null when there is none, or it is over. */
export async function findRunning(
  context: BillingContext,
  locked: LockedOwner,
  name: string,
): Promise<Running | null> {
  const { subscriptions, options } = context
  const row = await subscriptions.findByName(locked.owner, name)
  const now = options.clock.now()
  if (!row || ended(row, now)) return null
  const found = await converge(context, locked, row)
  const record = await subscriptions.findByProvider(row.provider, row.providerId)
  return found && record && !ended(record, now) ? { record, found } : null
}

import { converge, endRow } from '../consistency/converge.ts'
import { finishInterrupted } from '../consistency/resume-interrupted.ts'
import { asOwner, type Owner } from '../consistency/user-lock.ts'
import type { BillingContext } from '../context.ts'
import { NoSubscription } from '../errors.ts'
import type { Gateway, ProviderSubscription } from '../gateways/contract/gateway.ts'
import type { SubscriptionRecord } from '../storage/tables.ts'

/** Asks the provider for a change; `current` was read under the lock. */
export type SubscriptionChange = (
  gateway: Gateway,
  current: ProviderSubscription,
  owner: Owner,
) => Promise<void>

/** Every operation on a subscription: read it, ask for the change, bring our row to what came of it. */
export async function changeSubscription(
  context: BillingContext,
  record: SubscriptionRecord,
  change: SubscriptionChange,
  { ends = false }: { readonly ends?: boolean } = {},
): Promise<SubscriptionRecord> {
  return asOwner(context, record.userId, async (owner) => {
    await finishInterrupted(context, owner)
    const gateway = await owner.gateway(record.provider)
    const current = await gateway.findSubscription(record.providerId)
    if (!current) throw new NoSubscription('The provider no longer has this subscription')
    try {
      await change(gateway, current, owner)
    } finally {
      // Also after a failure: a timeout may hide that the provider did what was asked.
      await converge(context, owner, record)
    }
    if (ends) await endRow(context, owner, record)
    return requireRecord(context, record)
  })
}

export async function requireRecord(
  context: BillingContext,
  { provider, providerId }: Pick<SubscriptionRecord, 'provider' | 'providerId'>,
): Promise<SubscriptionRecord> {
  const record = await context.subscriptions.findByProvider(provider, providerId)
  if (!record) throw new NoSubscription('There is no such subscription')
  return record
}

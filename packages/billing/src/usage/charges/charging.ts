import type { BillingContext } from '../../context.ts'
import { isChargedByUs, type UsageCharges } from '../../gateways/contract/parts/money/usage.ts'
import { requirePart } from '../../gateways/contract/parts.ts'
import type { ProviderSubscription } from '../../gateways/contract/subscription.ts'
import {
  type ChargedUsageRepository,
  chargedUsageRepository,
} from '../../storage/queues/charged-usage.ts'
import type { BilledOwner, SubscriptionRecord } from '../../storage/tables.ts'

/** A subscription whose usage we count, as it is now. */
export interface Charging {
  readonly billed: BilledOwner
  readonly record: SubscriptionRecord
  readonly found: ProviderSubscription
  readonly part: UsageCharges
  readonly usage: ChargedUsageRepository
}

/** Or why nothing of it can be charged, now or ever. For a provider whose usage we count. */
export async function openCharging(
  context: BillingContext,
  record: SubscriptionRecord,
): Promise<Charging | string> {
  const { database } = context.options
  const { provider, owner, providerId, providerCustomer } = record
  const gateway = await context.gateway(provider)
  const part = requirePart(gateway, 'usage')
  if (!isChargedByUs(part)) throw new Error(`Usage at ${provider} is not charged by us`)
  const billed = await context.owners.find(owner)
  if (!billed) return `There is no ${owner.type} ${owner.id} any more`
  const isTheirs = providerCustomer === null || providerCustomer === billed.providerId
  if (billed.provider !== provider || billed.providerId === null || !isTheirs) {
    return `The ${owner.type} has no customer at ${provider} any more`
  }
  const found = await gateway.findSubscription(providerId)
  if (!found) return `${provider} has no subscription '${providerId}' any more`
  const usage = chargedUsageRepository(database, provider)
  return { billed, record, found, part, usage }
}

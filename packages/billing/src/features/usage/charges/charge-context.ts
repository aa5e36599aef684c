import type { BillingContext } from '../../../core/context.ts'
import type { BilledOwner, SubscriptionRecord } from '../../../core/storage/tables.ts'
import { requireGatewayPart } from '../../../providers/gateway-parts.ts'
import type { ProviderSubscription } from '../../../providers/subscription.ts'
import { isChargedByUs, type UsageCharges } from '../contract.ts'
import { type ChargedUsageRepository, createChargedUsageRepository } from './charged-usage-rows.ts'

/**
 * Data needed to charge a subscription for usage that billing itself counts: the present state of
 * the subscription, its owner and the gateway.
 */
export interface UsageChargeContext {
  readonly billed: BilledOwner
  readonly record: SubscriptionRecord
  readonly found: ProviderSubscription
  readonly part: UsageCharges
  readonly usage: ChargedUsageRepository
}

/**
 * Reads the data needed to charge a subscription for usage that billing itself counts. If this
 * usage can never be charged, returns the reason as text.
 */
export async function readUsageChargeContext(
  context: BillingContext,
  record: SubscriptionRecord,
): Promise<UsageChargeContext | string> {
  const { database } = context.options
  const { provider, owner, providerId, providerCustomer } = record
  const gateway = await context.gateway(provider)
  const part = requireGatewayPart(gateway, 'usage')
  if (!isChargedByUs(part))
    throw new Error(`${provider} bills usage itself, so billing cannot charge for it`)
  const billed = await context.owners.find(owner)
  if (!billed) return `There is no ${owner.type} ${owner.id} any more`
  const isTheirs = providerCustomer === null || providerCustomer === billed.providerId
  if (billed.provider !== provider || billed.providerId === null || !isTheirs) {
    return `The ${owner.type} has no customer at ${provider} any more`
  }
  const found = await gateway.findSubscription(providerId)
  if (!found) return `${provider} has no subscription '${providerId}' any more`
  const usage = createChargedUsageRepository(database, provider)
  return { billed, record, found, part, usage }
}

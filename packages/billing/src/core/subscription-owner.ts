import type { ProviderSubscription } from '../providers/subscription.ts'
import type { BillingContext } from './context.ts'
import type { LockedOwner } from './locked-owner.ts'
import type { NewSubscriptionRecord, SubscriptionRecord } from './storage/tables.ts'
import type { ProviderName } from './values/provider-name.ts'

/**
 * The owner of a subscription, and the customer for whom the subscription was made, as stored in
 * its row.
 */
export type SubscriptionOwnership = Pick<NewSubscriptionRecord, 'owner' | 'providerCustomer'>

/**
 * Determines the owner of a subscription from the customer that it was made for. If no owner has
 * that customer, the row keeps its owner, but the subscription no longer counts as that owner's.
 */
export async function findSubscriptionOwnership(
  context: BillingContext,
  locked: LockedOwner,
  provider: ProviderName,
  found: ProviderSubscription,
  recordBefore: SubscriptionRecord | null,
): Promise<SubscriptionOwnership> {
  const billed = await context.owners.find(locked.owner)
  const present = billed?.provider === provider ? billed.providerId : null
  const customer = await findSubscriptionCustomer(
    locked,
    provider,
    found,
    recordBefore ?? { providerCustomer: present },
  )
  if (customer !== null) {
    const here = { owner: locked.owner, providerCustomer: customer }
    if (customer === present) return here
    const holder = await context.owners.findByCustomer(provider, customer)
    if (holder) return { owner: holder.owner, providerCustomer: customer }
  }
  // The owner has left that customer, and keeps the subscription as history.
  if (recordBefore && recordBefore.providerCustomer === null) return recordBefore
  return { owner: recordBefore?.owner ?? locked.owner, providerCustomer: customer }
}

/**
 * Returns the customer of a subscription: the customer that the provider names, otherwise the
 * customer in our row. If the row says that the customer is unknown, asks the provider, which may
 * link the subscription to its customer only through the payment method.
 */
async function findSubscriptionCustomer(
  locked: LockedOwner,
  provider: ProviderName,
  subscriptionAtProvider: ProviderSubscription,
  { providerCustomer: known }: Pick<SubscriptionRecord, 'providerCustomer'>,
): Promise<string | null> {
  if (subscriptionAtProvider.customerId !== null) return subscriptionAtProvider.customerId
  return known === ''
    ? (await locked.gateway(provider)).findCustomerId(subscriptionAtProvider)
    : known
}

/**
 * Whether a subscription still belongs to the owner in its row. False if the owner no longer has
 * the customer that the subscription was made for, because the owner's id was reused or the
 * customer was transferred. True if the owner was deleted.
 */
export async function stillBelongsToOwner(
  { owners }: Pick<BillingContext, 'owners'>,
  {
    owner,
    provider,
    providerCustomer,
  }: SubscriptionOwnership & { readonly provider: ProviderName },
): Promise<boolean> {
  if (providerCustomer === null) return true
  const billed = await owners.find(owner)
  if (!billed) return true
  return billed.provider === provider && billed.providerId === providerCustomer
}

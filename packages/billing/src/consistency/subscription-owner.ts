import type { BillingContext } from '../context.ts'
import type { ProviderSubscription } from '../gateways/contract/subscription.ts'
import type { ProviderName } from '../provider-name.ts'
import type { NewSubscriptionRecord, SubscriptionRecord } from '../storage/tables.ts'
import type { LockedOwner } from './owner-lock.ts'

/** The owner of a subscription and the customer it was made for, as its row says them. */
export type Ownership = Pick<NewSubscriptionRecord, 'owner' | 'providerCustomer'>

/**
 * Finds the owner of a subscription by the customer it was made for, whatever its row says. If no owner has that customer,
 * the row stays as it is, and counts for no owner.
 */
export async function findOwnership(
  context: BillingContext,
  locked: LockedOwner,
  provider: ProviderName,
  found: ProviderSubscription,
  before: SubscriptionRecord | null,
): Promise<Ownership> {
  const billed = await context.owners.find(locked.owner)
  const present = billed?.provider === provider ? billed.providerId : null
  const customer = await customerOf(
    locked,
    provider,
    found,
    before ?? { providerCustomer: present },
  )
  if (customer !== null) {
    const here = { owner: locked.owner, providerCustomer: customer }
    if (customer === present) return here
    const holder = await context.owners.findByCustomer(provider, customer)
    if (holder) return { owner: holder.owner, providerCustomer: customer }
  }
  // An owner who has left that customer keeps the history.
  if (before && before.providerCustomer === null) return before
  return { owner: before?.owner ?? locked.owner, providerCustomer: customer }
}

/** A provider that keeps the customer with the payment method alone is asked only where our row does not know it. */
async function customerOf(
  locked: LockedOwner,
  provider: ProviderName,
  found: ProviderSubscription,
  { providerCustomer: known }: Pick<SubscriptionRecord, 'providerCustomer'>,
): Promise<string | null> {
  if (found.customerId !== null) return found.customerId
  return known === '' ? (await locked.gateway(provider)).findOwner(found) : known
}

/**
 * Whether a subscription concerns the owner in its row. It does not when the owner has another customer by now: then the id
 * was used again, or the customer was moved. An owner who is gone stays the one concerned.
 */
export async function concernsOwner(
  { owners }: Pick<BillingContext, 'owners'>,
  { owner, provider, providerCustomer }: Ownership & { readonly provider: ProviderName },
): Promise<boolean> {
  if (providerCustomer === null) return true
  const billed = await owners.find(owner)
  if (!billed) return true
  return billed.provider === provider && billed.providerId === providerCustomer
}

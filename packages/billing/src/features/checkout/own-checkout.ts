import type { BillingContext } from '../../core/context.ts'
import { formatOwnerKey, type Owner } from '../../core/values/owner.ts'
import type { ProviderName } from '../../core/values/provider-name.ts'
import type { ProviderCheckout } from './contract.ts'

/** The owner (a user or team) to whom a checkout page must belong. */
export interface CheckoutOwner {
  readonly owner: Owner
  readonly provider: ProviderName
  /** The provider's id of the owner's customer. `null` for an owner who was never a customer. */
  readonly customerId: string | null
}

/**
 * Finds a hosted checkout page by its id. Because ids come from URLs, which anyone can forge, only
 * pages created for this owner and customer are found.
 */
export async function findOwnedCheckout(
  context: BillingContext,
  { owner, provider, customerId }: CheckoutOwner,
  id: unknown,
): Promise<ProviderCheckout | null> {
  if (customerId === null || typeof id !== 'string' || !/^\w{1,255}$/.test(id)) return null
  const { checkout } = await context.gateway(provider)
  const found = await checkout?.find(id)
  return found?.customerId === customerId && found.owner === formatOwnerKey(owner) ? found : null
}

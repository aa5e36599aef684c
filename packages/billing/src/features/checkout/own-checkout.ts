import type { BillingContext } from '../../core/context.ts'
import { type Owner, ownerKey } from '../../core/values/owner.ts'
import type { ProviderName } from '../../core/values/provider-name.ts'
import type { ProviderCheckout } from './contract.ts'

/** The owner to whom a page has to belong. */
export interface CheckoutOwner {
  readonly owner: Owner
  readonly provider: ProviderName
  /** The provider's id of the customer. `null` for an owner who never was a customer. */
  readonly customerId: string | null
}

/**
 * Finds a hosted page by its id. Ids come from URLs, which anyone can write, so only pages that we
 * created for this customer and owner are found.
 */
export async function findOwnCheckout(
  context: BillingContext,
  { owner, provider, customerId }: CheckoutOwner,
  id: unknown,
): Promise<ProviderCheckout | null> {
  if (customerId === null || typeof id !== 'string' || !/^\w{1,255}$/.test(id)) return null
  const { checkout } = await context.gateway(provider)
  const found = await checkout?.find(id)
  return found?.customerId === customerId && found.owner === ownerKey(owner) ? found : null
}

import type { BillingContext } from '../context.ts'
import type { ProviderCheckout } from '../gateways/contract/parts/pages/checkout.ts'
import type { ProviderName } from '../provider-name.ts'
import { type Owner, ownerKey } from '../values/owner.ts'

/** Whose page it should be. */
export interface CheckoutOwner {
  readonly owner: Owner
  readonly provider: ProviderName
  /** Null for somebody who never was a customer. */
  readonly customerId: string | null
}

/**
 * A hosted page by its id. Anybody can write an id into an address, so a page counts only for the customer
 * it was made for, by us; for others it looks like none.
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

import { converge } from '../consistency/converge.ts'
import { withOwnerLock } from '../consistency/owner-lock.ts'
import { resumeInterrupted } from '../consistency/resume-interrupted.ts'
import type { BillingContext } from '../context.ts'
import { CheckoutNotFound } from '../errors.ts'
import type { ProviderCheckout } from '../gateways/contract/parts/pages/checkout.ts'
import type { ProviderName } from '../provider-name.ts'
import { type Owner, ownerKey } from '../values/owner.ts'

/** Whose page it should be. */
export interface Returning {
  readonly owner: Owner
  readonly provider: ProviderName
  /** Null for somebody who never was a customer. */
  readonly customerId: string | null
}

/**
 * What came of a hosted page, in our rows too. Anybody can write an id into an address, so a page counts
 * only for the customer it was made for, by us; for others it looks like none.
 */
export async function completeCheckout(
  context: BillingContext,
  returning: Returning,
  id: unknown,
): Promise<ProviderCheckout> {
  const { owner, provider } = returning
  await requireOwn(context, returning, id)
  return withOwnerLock(context, owner, async (locked) => {
    await resumeInterrupted(context, locked)
    const found = await requireOwn(context, returning, id)
    // Also for whoever comes after the event, which has finished the operation.
    const { subscriptionId } = found
    if (subscriptionId) await converge(context, locked, { provider, providerId: subscriptionId })
    return found
  })
}

async function requireOwn(
  context: BillingContext,
  { owner, provider, customerId }: Returning,
  id: unknown,
): Promise<ProviderCheckout> {
  if (customerId !== null && typeof id === 'string' && /^\w{1,255}$/.test(id)) {
    const { checkout } = await context.gateway(provider)
    const found = await checkout?.find(id)
    if (found?.customerId === customerId && found.owner === ownerKey(owner)) return found
  }
  throw new CheckoutNotFound('There is no such checkout')
}

import type { BillingContext } from '../../core/context.ts'
import { refreshSubscriptionRow } from '../../core/converge.ts'
import { CheckoutNotFound } from '../../core/errors/errors.ts'
import { resumeInterrupted, withOwnerLock } from '../../core/owner-lock.ts'
import type { ProviderCheckout } from './contract.ts'
import { type CheckoutOwner, findOwnedCheckout } from './own-checkout.ts'

/**
 * Reads the result of a hosted checkout page from the provider, and updates our database.
 * @throws CheckoutNotFound if there is no such page, or it belongs to another owner.
 */
export async function completeCheckout(
  context: BillingContext,
  returning: CheckoutOwner,
  id: unknown,
): Promise<ProviderCheckout> {
  const { owner, provider } = returning
  await requireOwn(context, returning, id)
  return withOwnerLock(context, owner, async (locked) => {
    await resumeInterrupted(context, locked)
    const found = await requireOwn(context, returning, id)
    // The webhook may have finished the operation already, so the rows are updated in any case.
    const { subscriptionId } = found
    if (subscriptionId)
      await refreshSubscriptionRow(context, locked, { provider, providerId: subscriptionId })
    return found
  })
}

async function requireOwn(
  context: BillingContext,
  returning: CheckoutOwner,
  id: unknown,
): Promise<ProviderCheckout> {
  const found = await findOwnedCheckout(context, returning, id)
  if (!found) throw new CheckoutNotFound('There is no such checkout')
  return found
}

import { converge } from '../consistency/converge.ts'
import { withOwnerLock } from '../consistency/owner-lock.ts'
import { resumeInterrupted } from '../consistency/resume-interrupted.ts'
import type { BillingContext } from '../context.ts'
import { CheckoutNotFound } from '../errors.ts'
import type { ProviderCheckout } from '../gateways/contract/parts/pages/checkout.ts'
import { type CheckoutOwner, findOwnCheckout } from './own-checkout.ts'

/** What came of a hosted page, in our rows too. CheckoutNotFound for anybody else's. */
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
    // Also for whoever comes after the event, which has finished the operation.
    const { subscriptionId } = found
    if (subscriptionId) await converge(context, locked, { provider, providerId: subscriptionId })
    return found
  })
}

async function requireOwn(
  context: BillingContext,
  returning: CheckoutOwner,
  id: unknown,
): Promise<ProviderCheckout> {
  const found = await findOwnCheckout(context, returning, id)
  if (!found) throw new CheckoutNotFound('There is no such checkout')
  return found
}

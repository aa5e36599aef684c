import type { BillingContext } from '../context.ts'
import { requirePart } from '../gateways/contract/parts.ts'
import type { StoredOperation } from '../storage/operations.ts'
import type { LockedOwner } from './owner-lock.ts'
import { settleCheckout } from './settle-checkout.ts'

/**
 * Nobody can pay on these hosted pages any more: two payments for one thing must not be under way. What
 * was paid at this very moment is kept, and the caller finds it in our rows. Other operations stay.
 */
export async function closeCheckouts(
  context: BillingContext,
  locked: LockedOwner,
  operations: readonly StoredOperation[],
): Promise<void> {
  for (const operation of operations) {
    if (operation.kind !== 'checkout') continue
    const found = await settleCheckout(context, locked, operation)
    if (found?.status !== 'open') continue
    await locked.change(operation.request.provider, (gateway) =>
      requirePart(gateway, 'checkout').expire(found.id),
    )
    await settleCheckout(context, locked, operation)
  }
}

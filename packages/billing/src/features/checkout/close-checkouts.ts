import type { BillingContext } from '../../core/context.ts'
import type { LockedOwner } from '../../core/locked-owner.ts'
import type { StoredOperation } from '../../core/storage/operations.ts'
import { requirePart } from '../../providers/gateway-parts.ts'
import { applyCheckoutResult } from './checkout-result.ts'

/**
 * Expires these hosted pages, so that the same thing cannot be paid twice. A payment that was just
 * made on one is kept, and its subscription is in our rows afterwards. Other operations are left
 * alone.
 */
export async function closeCheckouts(
  context: BillingContext,
  locked: LockedOwner,
  operations: readonly StoredOperation[],
): Promise<void> {
  for (const operation of operations) {
    if (operation.kind !== 'checkout') continue
    const found = await applyCheckoutResult(context, locked, operation)
    if (found?.status !== 'open') continue
    await locked.change(operation.request.provider, (gateway) =>
      requirePart(gateway, 'checkout').expire(found.id),
    )
    await applyCheckoutResult(context, locked, operation)
  }
}

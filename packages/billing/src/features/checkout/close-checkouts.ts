import type { BillingContext } from '../../core/context.ts'
import type { LockedOwner } from '../../core/locked-owner.ts'
import type { StoredOperation } from '../../core/storage/operations.ts'
import { requireGatewayPart } from '../../providers/gateway-parts.ts'
import { applyCheckoutResult } from './checkout-result.ts'

/**
 * Expires the hosted checkout pages of these operations, so that customers cannot pay twice for the
 * same subscription. If a page was paid at the same moment, the payment is kept, and its
 * subscription is stored in our database. Operations that did not open a page are ignored.
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
      requireGatewayPart(gateway, 'checkout').expire(found.id),
    )
    await applyCheckoutResult(context, locked, operation)
  }
}

import type { LockedOwner } from '../../core/locked-owner.ts'
import type { PendingOperation } from '../../core/storage/operations.ts'
import { requireGatewayPart } from '../../providers/gateway-parts.ts'
import { isStoredPlannedSwap } from './planned-swap-recovery.ts'

/**
 * Plans a stored swap at the provider again. The plan contains the id of the operation, so that a
 * later recovery recognizes that the swap was planned.
 */
export async function replanStoredSwap(
  locked: LockedOwner,
  { id: operation, request }: PendingOperation,
): Promise<void> {
  if (!isStoredPlannedSwap(request)) return
  const { provider, of, items, tax, automaticTax, taxRates, itemRates } = request
  const rates = {
    ...(automaticTax ? { automaticTax } : {}),
    ...(taxRates ? { taxRates } : {}),
    ...(itemRates ? { itemRates } : {}),
  }
  const swap = { items, at: new Date(request.at), tax, ...rates, operation }
  await locked.change(provider, (gateway) =>
    requireGatewayPart(gateway, 'schedules').plan(of, swap),
  )
}

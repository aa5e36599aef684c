import { requirePart } from '../../gateways/contract/parts.ts'
import type { Operation } from '../../storage/operations.ts'
import type { LockedOwner } from '../owner-lock.ts'
import { isKept } from './decide-plan.ts'

/** Plans what is on record. It belongs to this operation from now on, so whoever looks knows that it was done. */
export async function planKept(
  locked: LockedOwner,
  { id: operation, request }: Operation,
): Promise<void> {
  if (!isKept(request)) return
  const { provider, of, items, tax, automaticTax, taxRates, itemRates } = request
  const rates = {
    ...(automaticTax ? { automaticTax } : {}),
    ...(taxRates ? { taxRates } : {}),
    ...(itemRates ? { itemRates } : {}),
  }
  const swap = { items, at: new Date(request.at), tax, ...rates, operation }
  await locked.change(provider, (gateway) => requirePart(gateway, 'schedules').plan(of, swap))
}

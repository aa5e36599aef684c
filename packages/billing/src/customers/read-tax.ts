import type { BillingContext } from '../context.ts'
import { requireOwnerTable } from '../storage/owner-tables.ts'
import type { BilledOwner } from '../storage/tables.ts'
import { type BasisPoints, parseTaxPercentage } from '../values/tax.ts'

/** The owner's tax percentage as the application says it now. */
export async function readTax(
  { options }: BillingContext,
  { owner, attributes }: BilledOwner,
): Promise<BasisPoints> {
  const { taxPercentage } = requireOwnerTable(options.owners, owner.type)
  return parseTaxPercentage(await taxPercentage({ ...attributes }))
}

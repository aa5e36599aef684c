import type { BillingContext } from '../context.ts'
import { UserNotFound } from '../errors.ts'
import type { BilledOwner } from '../storage/tables.ts'
import type { Owner } from '../values/owner.ts'

/** The row of an owner as it is now. It may have been deleted since somebody asked for it. */
export async function requireOwner({ owners }: BillingContext, owner: Owner): Promise<BilledOwner> {
  const found = await owners.find(owner)
  if (found) return found
  throw new UserNotFound(`There is no ${owner.type} ${owner.id}`)
}

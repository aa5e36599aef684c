import type { BillingContext } from '../context.ts'
import type { ChangedDetails } from '../gateways/contract/parts/money/customer-details.ts'
import { requireOwnerTable } from '../storage/owner-tables.ts'
import type { BilledOwner } from '../storage/tables.ts'

/** What the row of an owner says of the customer. An address is there where columns for it are named, empty or not. */
export function describedByRow(
  { options }: BillingContext,
  { owner, attributes }: BilledOwner,
): ChangedDetails {
  const { email, name, phone, address } = requireOwnerTable(options.owners, owner.type)
  const read = (columns: Readonly<Record<string, string | undefined>>) => {
    const said: Record<string, string> = {}
    for (const [part, column] of Object.entries(columns)) {
      const value = column === undefined ? null : attributes[column]
      if (typeof value === 'string' && value !== '') said[part] = value
    }
    return said
  }
  return { ...read({ email, name, phone }), ...(address ? { address: read({ ...address }) } : {}) }
}

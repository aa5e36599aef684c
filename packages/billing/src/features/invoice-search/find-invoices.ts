import { BillableUser } from '../../billable-user.ts'
import type { BillingContext } from '../../core/context.ts'
import { requireText } from '../../core/values/arguments.ts'
import type { Owner } from '../../core/values/owner.ts'
import { requireGatewayPart } from '../../providers/gateway-parts.ts'
import type { Invoice } from '../invoices/invoice.ts'

/** An invoice with the owner it was issued to. */
export interface FoundInvoice {
  /** The user or other owner whose customer has the invoice. */
  readonly owner: Owner
  /** The invoice, with its actions. */
  readonly invoice: Invoice
}

/**
 * Finds invoices of all owners by number or id. Invoices of customers without an owner are left
 * out.
 */
export async function findInvoices(
  context: BillingContext,
  number: string,
): Promise<FoundInvoice[]> {
  requireText('number', number)
  const able = context.options.providers.all.filter(({ can }) => can.includes('invoiceSearch'))
  const found = await Promise.all(
    able.map(async ({ name: provider }) => {
      const search = requireGatewayPart(await context.gateway(provider), 'invoiceSearch')
      return (await search.find(number)).map((hit) => ({ ...hit, provider }))
    }),
  )
  const invoices: FoundInvoice[] = []
  for (const { provider, customerId, id } of found.flat()) {
    const record = await context.owners.findByCustomer(provider, customerId)
    const invoice = record && (await new BillableUser(context, record).findInvoice(id))
    if (invoice) invoices.push({ owner: record.owner, invoice })
  }
  return invoices
}

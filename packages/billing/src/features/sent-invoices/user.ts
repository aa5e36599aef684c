import { beginOperation, finishOperation, runOperation } from '../../core/operation.ts'
import type { OperationIntent } from '../../core/storage/operations.ts'
import type { UserScopeWith } from '../../core/user-scope.ts'
import { requireCount, requireText } from '../../core/values/arguments.ts'
import { requireAmount } from '../../core/values/money.ts'
import { requireGatewayPart } from '../../providers/gateway-parts.ts'
import { withEnsuredCustomer } from '../customers/customer.ts'
import type { Invoice } from '../invoices/invoice.ts'
import { toInvoice } from '../invoices/user.ts'
import { type InvoicedItem, usesAutomaticTax } from '../payments/user.ts'
import type { NewSentInvoice, SendInvoiceOptions } from './contract.ts'

/** The customary payment terms, "net 30". */
const DEFAULT_DAYS = 30

/**
 * Creates an invoice and sends it to the customer. An operation is stored until the invoice is
 * sent, so that a call that is repeated after a crash completes and returns the same invoice. If
 * the caller passes no idempotency key, the operation's id is used.
 */
export async function sendInvoice(
  user: UserScopeWith<'sentInvoices'>,
  { description, amount }: InvoicedItem,
  { daysUntilDue = DEFAULT_DAYS, idempotencyKey: key, ...given }: SendInvoiceOptions,
): Promise<Invoice> {
  requireText('description', description)
  requireCount(daysUntilDue)
  if (key !== undefined) requireText('idempotency key', key)
  const gateway = await user.gateway()
  const item = { description, amount: requireAmount(amount, gateway.toMoney) }
  const { automaticTax: _, ...others } = given
  const more = { ...others, ...(usesAutomaticTax(user, given) ? { automaticTax: true } : {}) }
  const { context, owner, provider } = user
  const data = await withEnsuredCustomer(user, async (locked, customerId) => {
    const request = { provider, item, daysUntilDue, more, ...(key ? { key } : {}) }
    const intent: OperationIntent = { owner, kind: 'send_invoice', request }
    const operation = await beginOperation(context, locked, intent)
    return runOperation(context, locked, operation, async () => {
      const wanted: NewSentInvoice = {
        customerId,
        item,
        daysUntilDue,
        more,
        key: key ?? operation.id,
      }
      const sent = await locked.change(provider, (changing) =>
        requireGatewayPart(changing, 'sentInvoices').send(wanted),
      )
      await finishOperation(context, locked, operation)
      return sent
    })
  })
  return toInvoice(user, data)
}

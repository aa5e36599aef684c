import { attempt, begin, finish } from '../../core/operation.ts'
import type { Intent } from '../../core/storage/operations.ts'
import type { UserHaving } from '../../core/user-scope.ts'
import { requireCount, requireText } from '../../core/values/arguments.ts'
import { requireAmount } from '../../core/values/money.ts'
import { requirePart } from '../../providers/gateway-parts.ts'
import { withCustomer } from '../customers/customer.ts'
import type { Invoice } from '../invoices/invoice.ts'
import { toInvoice } from '../invoices/user.ts'
import { isTaxed, type SoldItem } from '../payments/user.ts'
import type { NewSentInvoice, SendInvoiceOptions } from './contract.ts'

/** The customary payment terms, "net 30". */
const DEFAULT_DAYS = 30

/**
 * Creates and sends an invoice. The operation is stored until the invoice is sent, so a call that
 * is repeated after a crash finishes and returns the same invoice. Without a key from the caller,
 * the operation's id is the key.
 */
export async function sendInvoice(
  user: UserHaving<'sentInvoices'>,
  { description, amount }: SoldItem,
  { daysUntilDue = DEFAULT_DAYS, idempotencyKey: key, ...given }: SendInvoiceOptions,
): Promise<Invoice> {
  requireText('description', description)
  requireCount(daysUntilDue)
  if (key !== undefined) requireText('idempotency key', key)
  const gateway = await user.gateway()
  const item = { description, amount: requireAmount(amount, gateway.toMoney) }
  const { automaticTax: _, ...others } = given
  const more = { ...others, ...(isTaxed(user, given) ? { automaticTax: true } : {}) }
  const { context, owner, provider } = user
  const data = await withCustomer(user, async (locked, customerId) => {
    const request = { provider, item, daysUntilDue, more, ...(key ? { key } : {}) }
    const intent: Intent = { owner, kind: 'send_invoice', request }
    const operation = await begin(context, locked, intent)
    return attempt(context, locked, operation, async () => {
      const wanted: NewSentInvoice = {
        customerId,
        item,
        daysUntilDue,
        more,
        key: key ?? operation.id,
      }
      const sent = await locked.change(provider, (changing) =>
        requirePart(changing, 'sentInvoices').send(wanted),
      )
      await finish(context, locked, operation)
      return sent
    })
  })
  return toInvoice(user, data)
}

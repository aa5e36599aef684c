import { invoicePaid } from '../../events/of-invoice.ts'
import type { Gateway } from '../../gateways/contract/gateway.ts'
import type { ChargeOptions, InvoiceForOptions } from '../../gateways/contract/payment.ts'
import type { Invoice } from '../../invoices/invoice.ts'
import { requireProvider } from '../../subscriptions/known-plans.ts'
import { requireText } from '../../values/arguments.ts'
import type { PendingConfirmation } from '../../values/confirmation.ts'
import { type Amount, requireAmount } from '../../values/money.ts'
import type { UserScope } from '../user-scope.ts'
import { withPresentCustomer } from '../with-customer.ts'
import { findInvoice, requirePaidInvoice } from './invoices.ts'

export async function charge(
  user: UserScope,
  amount: Amount,
  options: ChargeOptions,
): Promise<unknown> {
  const gateway = await user.gateway()
  const value = requireAmount(amount, gateway.toMoney)
  const paid = await payOnce(user, options, (provider, customerId) =>
    provider.charge(customerId, value, options),
  )
  const { id } = paid as { readonly id?: unknown }
  if (typeof id === 'string') await tellPaid(user, id)
  return paid
}

/** What is sold, and for how much. */
export interface SoldItem {
  readonly description: string
  readonly amount: Amount
}

export async function invoiceFor(
  user: UserScope,
  { description, amount }: SoldItem,
  options: InvoiceForOptions,
): Promise<Invoice> {
  requireText('description', description)
  const gateway = await user.gateway()
  const item = { description, amount: requireAmount(amount, gateway.toMoney) }
  const { automaticTax: _, ...others } = options
  const wanted = { ...others, ...(isTaxed(user, options) ? { automaticTax: true } : {}) }
  const outcome = await payOnce(user, options, (provider, customerId) =>
    provider.invoiceFor(customerId, item, wanted),
  )
  const invoice = requirePaidInvoice(user, outcome)
  await tellPaid(user, invoice.id)
  return invoice
}

/** Unsupported where it is asked for and the provider cannot. */
function isTaxed(user: UserScope, { automaticTax }: InvoiceForOptions): boolean {
  const { can } = requireProvider(user.context, user.provider)
  if (automaticTax) user.having('automaticTax')
  return automaticTax ?? (user.context.options.tax === 'automatic' && can.includes('automaticTax'))
}

/**
 * Where the provider sends no event for a single payment, nobody else tells of it; where it does, it is the same one. The
 * payment is made: what fails here is not the caller's to know.
 */
async function tellPaid(user: UserScope, id: string): Promise<void> {
  const { events, options } = user.context
  if (!events.isWanted('invoice.paid')) return
  try {
    const invoice = await findInvoice(user, id)
    if (!invoice) return
    await options.database.transaction((tx) => events.record(tx, invoicePaid(user, invoice.data)))
    events.committed()
  } catch (error) {
    options.logger.error(`It could not be told that ${id} was paid`, error)
  }
}

/** Nothing where the provider's script asks before there is a payment. */
export async function listConfirmations(user: UserScope): Promise<PendingConfirmation[]> {
  const customerId = await user.findCustomerId()
  const { confirmations } = await user.gateway()
  return customerId === null || !confirmations ? [] : confirmations.list(customerId)
}

/** With a key of the caller's, one at a time: a repeat first looks for what the others did. */
async function payOnce<R>(
  user: UserScope,
  { idempotencyKey }: ChargeOptions,
  pay: (gateway: Gateway, customerId: string) => Promise<R>,
): Promise<R> {
  if (idempotencyKey === undefined) {
    return pay(await user.gateway(), await user.requireCustomerId())
  }
  requireText('idempotency key', idempotencyKey)
  return withPresentCustomer(user, (locked, customerId) =>
    locked.change(user.provider, (gateway) => pay(gateway, customerId)),
  )
}

import { requireProvider } from '../../core/known-prices.ts'
import type { UserScope } from '../../core/user-scope.ts'
import { requireText } from '../../core/values/arguments.ts'
import type { PendingConfirmation } from '../../core/values/confirmation.ts'
import { type Amount, requireAmount } from '../../core/values/money.ts'
import type { Gateway } from '../../providers/gateway.ts'
import { withExistingCustomer } from '../customers/customer.ts'
import { buildInvoicePaidEvent } from '../invoices/events.ts'
import type { Invoice } from '../invoices/invoice.ts'
import { findInvoice, requirePaidInvoice } from '../invoices/user.ts'
import type { ChargeOptions, InvoiceForOptions } from './charge-contract.ts'

export async function chargeUser(
  user: UserScope,
  amount: Amount,
  options: ChargeOptions,
): Promise<unknown> {
  if (options.captureLater) user.withCapability('captures')
  const gateway = await user.gateway()
  const value = requireAmount(amount, gateway.toMoney)
  const paid = await payWithIdempotencyKey(user, options, (provider, customerId) =>
    provider.charge(customerId, value, options),
  )
  const { id } = paid as { readonly id?: unknown }
  // An uncaptured charge is not paid yet.
  if (typeof id === 'string' && !options.captureLater) await emitInvoicePaid(user, id)
  return paid
}

/** The single line of an invoice: its description and amount. */
export interface InvoicedItem {
  readonly description: string
  readonly amount: Amount
}

export async function invoiceFor(
  user: UserScope,
  { description, amount }: InvoicedItem,
  options: InvoiceForOptions,
): Promise<Invoice> {
  requireText('description', description)
  const gateway = await user.gateway()
  const item = { description, amount: requireAmount(amount, gateway.toMoney) }
  const { automaticTax: _, ...others } = options
  const wanted = { ...others, ...(usesAutomaticTax(user, options) ? { automaticTax: true } : {}) }
  const outcome = await payWithIdempotencyKey(user, options, (provider, customerId) =>
    provider.invoiceFor(customerId, item, wanted),
  )
  const invoice = requirePaidInvoice(user, outcome)
  await emitInvoicePaid(user, invoice.id)
  return invoice
}

/**
 * Whether the provider calculates the tax of a single charge: as the caller's `automaticTax` says,
 * otherwise as the option `tax` says.
 * @throws Unsupported if the caller requests it, and the provider cannot calculate taxes.
 */
export function usesAutomaticTax(
  user: UserScope,
  { automaticTax }: Pick<InvoiceForOptions, 'automaticTax'>,
): boolean {
  const { can } = requireProvider(user.context, user.provider)
  if (automaticTax) user.withCapability('automaticTax')
  return automaticTax ?? (user.context.options.tax === 'automatic' && can.includes('automaticTax'))
}

/**
 * Emits `invoice.paid` for a single payment, because not every provider sends a webhook for it. The
 * event of a webhook has the same id, so it is emitted once. A failure is only logged, because the
 * payment was made.
 */
async function emitInvoicePaid(user: UserScope, id: string): Promise<void> {
  const { events, options } = user.context
  if (!events.isWanted('invoice.paid')) return
  try {
    const invoice = await findInvoice(user, id)
    if (!invoice) return
    await options.database.transaction((tx) =>
      events.record(tx, buildInvoicePaidEvent(user, invoice.data)),
    )
    events.committed()
  } catch (error) {
    options.logger.error(`The invoice.paid event for ${id} could not be recorded`, error)
  }
}

/**
 * Lists the payments and cards that the user still has to authenticate. Empty for providers whose
 * browser script authenticates the customer before the payment.
 */
export async function listConfirmations(user: UserScope): Promise<PendingConfirmation[]> {
  const customerId = await user.findCustomerId()
  const { confirmations } = await user.gateway()
  return customerId === null || !confirmations ? [] : confirmations.list(customerId)
}

/**
 * Makes a payment. With the caller's key, calls run one at a time, so that a repeat finds the first
 * payment.
 */
async function payWithIdempotencyKey<R>(
  user: UserScope,
  { idempotencyKey }: ChargeOptions,
  pay: (gateway: Gateway, customerId: string) => Promise<R>,
): Promise<R> {
  if (idempotencyKey === undefined) {
    return pay(await user.gateway(), await user.requireCustomerId())
  }
  requireText('idempotency key', idempotencyKey)
  return withExistingCustomer(user, (locked, customerId) =>
    locked.change(user.provider, (gateway) => pay(gateway, customerId)),
  )
}

import type { Database } from '@tollgate/database'
import type { BillingContext, ResumeOperation } from '../../core/context.ts'
import { isDefiniteFailure, NoCustomer, TransferRefused } from '../../core/errors/errors.ts'
import { finishOperation } from '../../core/operation.ts'
import { resumeInterrupted, withOwnerLocks } from '../../core/owner-lock.ts'
import type { PendingOperation } from '../../core/storage/operations.ts'
import type { BilledOwner } from '../../core/storage/tables.ts'
import { requireOwner } from '../../core/user-scope.ts'
import { formatOwnerKey, type Owner } from '../../core/values/owner.ts'
import type { ProviderName } from '../../core/values/provider-name.ts'
import { closeCheckouts } from '../checkout/close-checkouts.ts'
import { hadSubscriptionTrial } from '../trials/one-trial.ts'
import { createTransferEvents } from './events.ts'

/**
 * Transfers a customer with its subscriptions and payment methods from one owner to another. Our
 * database changes in one transaction. After a crash before the transaction, nothing has changed.
 * After a later crash, only the new owner's name at the provider is missing, and that owner's next
 * operation writes it.
 */
export async function transferCustomer(
  context: BillingContext,
  from: Owner,
  newOwnerOfCustomer: Owner,
): Promise<void> {
  const { owner: to } = await requireOwner(context, newOwnerOfCustomer)
  if (formatOwnerKey(from) === formatOwnerKey(to)) {
    throw new TransferRefused(`The ${to.type} already has this customer`, { reason: 'same_owner' })
  }
  await withOwnerLocks(context, { from, to }, async (locked) => {
    const begun = await resumeInterrupted(context, locked.from)
    await resumeInterrupted(context, locked.to)
    const newOwner = await requireOwner(context, to)
    if (await isDone(context, from, newOwner)) return
    const { provider } = await requireCustomer(context, from)
    await requireNoCustomerYet(context, newOwner, provider)
    // A page sent to the old owner must not be paid for the new one.
    await closeCheckouts(context, locked.from, begun)
    const billed = await requireCustomer(context, from)
    const hadTrial = await hadSubscriptionTrial(context, from)
    const operation = await locked.write((tx) =>
      moveCustomerRows(context, billed, to, hadTrial, tx),
    )
    await resumeTransfer(context, locked.to, { ...operation, kind: 'transfer' })
  })
}

/** An owner with a customer. */
type Customer = BilledOwner & { readonly provider: ProviderName; readonly providerId: string }

function isCustomer(billed: BilledOwner): billed is Customer {
  return billed.provider !== null && billed.providerId !== null
}

async function requireCustomer(context: BillingContext, owner: Owner): Promise<Customer> {
  const billed = await requireOwner(context, owner)
  if (isCustomer(billed)) return billed
  throw new NoCustomer(`The ${owner.type} has no customer to transfer`)
}

/** Whether this very transfer was done before, so that a repeat after a lost response succeeds. */
async function isDone(
  { owners, transfers }: BillingContext,
  from: Owner,
  newOwner: BilledOwner,
): Promise<boolean> {
  const previousOwner = await owners.find(from)
  if (!previousOwner || isCustomer(previousOwner) || !isCustomer(newOwner)) return false
  const { owner: to, provider, providerId: customer } = newOwner
  return transfers.isNewest({ provider, customer, from, to })
}

/**
 * Requires that the new owner has neither a customer nor subscriptions, because two subscriptions
 * of the same name could not be told apart.
 * @throws TransferRefused otherwise.
 */
export async function requireNoCustomerYet(
  { subscriptions }: BillingContext,
  { owner, provider, providerId }: BilledOwner,
  movedProvider: ProviderName,
): Promise<void> {
  const whom = `The ${owner.type} ${owner.id}`
  if (providerId !== null) {
    throw new TransferRefused(`${whom} already has a customer`, { reason: 'has_customer' })
  }
  if (await subscriptions.hasAny(owner)) {
    throw new TransferRefused(`${whom} already has, or had, subscriptions`, {
      reason: 'has_subscription',
    })
  }
  if (provider !== null && provider !== movedProvider) {
    throw new TransferRefused(
      `${whom} is billed by ${provider}, but the customer is at ${movedProvider}`,
      {
        reason: 'other_provider',
      },
    )
  }
}

/**
 * Moves all rows in the transaction. Returns the operation that names the new owner at the
 * provider.
 */
async function moveCustomerRows(
  context: BillingContext,
  billed: Customer,
  to: Owner,
  hadTrial: boolean,
  tx: Database,
): Promise<PendingOperation> {
  const { owners, transfers, events, operations, options } = context
  const { owner: from, provider, providerId: customer } = billed
  const at = options.clock.now()
  const id = await transfers.add({ provider, customer, from, to }, { hadTrial, at }, tx)
  // The columns are unique across owners, so the old owner is cleared first.
  await owners.clearCustomer(from, { provider, providerId: customer }, tx)
  await owners.setCustomer(to, billed, tx)
  for (const event of createTransferEvents(billed, to, id)) await events.record(tx, event)
  const request = { provider, customer }
  return operations.begin({ owner: to, kind: 'transfer', request }, at, tx)
}

/**
 * Completes a transfer that a crash interrupted, by writing the new owner's name at the provider.
 * Our database has changed already.
 */
export const resumeTransfer: ResumeOperation = async (context, locked, operation) => {
  const { provider, customer } = operation.request
  if (!context.options.providers.find(provider)) return
  const billed = await context.owners.find(locked.owner)
  const isTheirs = billed?.provider === provider && billed.providerId === customer
  if (isTheirs) {
    await locked
      .change(provider, async (gateway) => gateway.setOwner?.(String(customer), locked.owner))
      .catch((error) => {
        // A deleted customer needs no name.
        if (!isDefiniteFailure(error)) throw error
      })
  }
  await finishOperation(context, locked, operation)
}

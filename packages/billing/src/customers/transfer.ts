import type { Database } from '@tollgate/database'
import { closeCheckouts } from '../consistency/close-checkouts.ts'
import { transfer as nameOwner } from '../consistency/operations/transfer.ts'
import { withOwnerLocks } from '../consistency/owner-lock.ts'
import { resumeInterrupted } from '../consistency/resume-interrupted.ts'
import type { BillingContext } from '../context.ts'
import { NoCustomer, TransferRefused } from '../errors.ts'
import { customerTransferred } from '../events/of-customer.ts'
import type { ProviderName } from '../provider-name.ts'
import type { Operation } from '../storage/operations.ts'
import type { BilledOwner } from '../storage/tables.ts'
import { type Owner, ownerKey } from '../values/owner.ts'
import { hadSubscriptionTrial } from './one-trial.ts'
import { requireOwner } from './require-owner.ts'

/**
 * Gives the customer of one owner to another, with all that belongs to it. Our rows change hands in one transaction: a process
 * that is killed before it has changed nothing, and after it only the owner's name at the provider is missing, which the next
 * operation of the new owner writes.
 */
export async function transferCustomer(
  context: BillingContext,
  from: Owner,
  wanted: Owner,
): Promise<void> {
  const { owner: to } = await requireOwner(context, wanted)
  if (ownerKey(from) === ownerKey(to)) {
    throw new TransferRefused(`The ${to.type} has this customer already`, { reason: 'same_owner' })
  }
  await withOwnerLocks(context, { from, to }, async (locked) => {
    const begun = await resumeInterrupted(context, locked.from)
    await resumeInterrupted(context, locked.to)
    const taking = await requireOwner(context, to)
    if (await isDone(context, from, taking)) return
    const { provider } = await requireCustomer(context, from)
    await requireFree(context, taking, provider)
    // Nobody is to pay for the new owner on a page that the old one was sent to.
    await closeCheckouts(context, locked.from, begun)
    const billed = await requireCustomer(context, from)
    const hadTrial = await hadSubscriptionTrial(context, from)
    const operation = await locked.write((tx) => move(context, billed, to, hadTrial, tx))
    await nameOwner(context, locked.to, { ...operation, kind: 'transfer' })
  })
}

/** An owner who has a customer. */
type Customer = BilledOwner & { readonly provider: ProviderName; readonly providerId: string }

function isCustomer(billed: BilledOwner): billed is Customer {
  return billed.provider !== null && billed.providerId !== null
}

async function requireCustomer(context: BillingContext, owner: Owner): Promise<Customer> {
  const billed = await requireOwner(context, owner)
  if (isCustomer(billed)) return billed
  throw new NoCustomer(`The ${owner.type} has no customer to give away`)
}

/** Whether this very transfer was done before, so that a repeat after a lost answer succeeds. */
async function isDone(
  { owners, transfers }: BillingContext,
  from: Owner,
  taking: BilledOwner,
): Promise<boolean> {
  const giving = await owners.find(from)
  if (!giving || isCustomer(giving) || !isCustomer(taking)) return false
  const { owner: to, provider, providerId: customer } = taking
  return transfers.isNewest({ provider, customer, from, to })
}

/** Throws TransferRefused for an owner who has a customer or subscriptions: two of one name could not be told apart. */
async function requireFree(
  { subscriptions }: BillingContext,
  { owner, provider, providerId }: BilledOwner,
  wanted: ProviderName,
): Promise<void> {
  const whom = `The ${owner.type} ${owner.id}`
  if (providerId !== null) {
    throw new TransferRefused(`${whom} has a customer of its own`, { reason: 'has_customer' })
  }
  if (await subscriptions.hasAny(owner)) {
    throw new TransferRefused(`${whom} has had subscriptions of its own`, {
      reason: 'has_subscription',
    })
  }
  if (provider !== null && provider !== wanted) {
    throw new TransferRefused(`${whom} pays at ${provider}, and the customer is at ${wanted}`, {
      reason: 'other_provider',
    })
  }
}

/** All of it, or nothing. Gives the operation that is left. */
async function move(
  context: BillingContext,
  billed: Customer,
  to: Owner,
  hadTrial: boolean,
  tx: Database,
): Promise<Operation> {
  const { owners, transfers, events, operations, options } = context
  const { owner: from, provider, providerId: customer } = billed
  const at = options.clock.now()
  const id = await transfers.add({ provider, customer, from, to }, { hadTrial, at }, tx)
  // The columns of both are unique: the one gives them away before the other has them.
  await owners.clearCustomer(from, { provider, providerId: customer }, tx)
  await owners.setCustomer(to, billed, tx)
  for (const event of customerTransferred(billed, to, id)) await events.record(tx, event)
  const request = { provider, customer }
  return operations.begin({ owner: to, kind: 'transfer', request }, at, tx)
}

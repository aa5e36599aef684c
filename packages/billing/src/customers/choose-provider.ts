import { closeCheckouts } from '../consistency/close-checkouts.ts'
import { columnsOf, converge } from '../consistency/converge.ts'
import { type LockedOwner, withOwnerLock } from '../consistency/owner-lock.ts'
import { resumeInterrupted } from '../consistency/resume-interrupted.ts'
import { abandon } from '../consistency/settle-first-payment.ts'
import type { BillingContext } from '../context.ts'
import { AlreadySubscribed, InvalidArgument, ProviderChosen } from '../errors.ts'
import type { ProviderName } from '../provider-name.ts'
import type { SubscriptionRecord } from '../storage/tables.ts'
import type { Owner } from '../values/owner.ts'
import { awaitsFirstPayment, ended } from '../values/subscription-state.ts'
import { requireOwner } from './require-owner.ts'

/** Where the owner pays from now on. Free until something was paid or is asked for: invoices and refunds stay where they are. */
export async function chooseProvider(
  context: BillingContext,
  owner: Owner,
  provider: ProviderName,
): Promise<void> {
  if (!context.options.providers.find(provider)) {
    throw new InvalidArgument(`'${String(provider)}' is not configured: give its options first`)
  }
  await withOwnerLock(context, owner, async (locked) => {
    const begun = await resumeInterrupted(context, locked)
    const billed = await requireOwner(context, owner)
    if (billed.provider === provider) return
    if (billed.provider && billed.providerId) {
      await closeCheckouts(context, locked, begun)
      await leave(context, locked, billed.provider, billed.providerId)
    }
    await locked.lock.write((tx) => context.owners.setProvider(owner, provider, tx))
  })
}

/** Closes what was never paid there; anything else is a reason to stay. */
async function leave(
  context: BillingContext,
  locked: LockedOwner,
  provider: ProviderName,
  customerId: string,
): Promise<void> {
  const gateway = await locked.gateway(provider)
  for (const row of await context.subscriptions.listByOwner(locked.owner)) {
    if (row.provider === provider) await close(context, locked, row)
  }
  if (await gateway.hasPaid(customerId)) {
    throw new ProviderChosen(
      `The ${locked.owner.type} has paid through ${provider}, or is asked to pay there: its invoices are there`,
    )
  }
}

async function close(
  context: BillingContext,
  locked: LockedOwner,
  row: SubscriptionRecord,
): Promise<void> {
  const isOver = (columns: SubscriptionRecord | null) =>
    !columns || ended(columns, context.options.clock.now())
  if (isOver(row)) return
  const found = await converge(context, locked, row)
  if (found && awaitsFirstPayment(columnsOf(context, row.provider, found))) {
    await abandon(locked, row.provider, found)
    await converge(context, locked, row)
  }
  if (isOver(await context.subscriptions.findByProvider(row.provider, row.providerId))) return
  throw new AlreadySubscribed(`'${row.name}' runs at ${row.provider}: end it first`)
}

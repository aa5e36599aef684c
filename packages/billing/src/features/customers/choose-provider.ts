import type { BillingContext } from '../../core/context.ts'
import { refreshSubscriptionRow, toStateColumns } from '../../core/converge.ts'
import { AlreadySubscribed, InvalidArgument, ProviderChosen } from '../../core/errors/errors.ts'
import type { LockedOwner } from '../../core/locked-owner.ts'
import { resumeInterrupted, withOwnerLock } from '../../core/owner-lock.ts'
import type { SubscriptionRecord } from '../../core/storage/tables.ts'
import { requireOwner } from '../../core/user-scope.ts'
import type { Owner } from '../../core/values/owner.ts'
import type { ProviderName } from '../../core/values/provider-name.ts'
import { awaitsFirstPayment, hasSubscriptionEnded } from '../../core/values/subscription-state.ts'
import { closeCheckouts } from '../checkout/close-checkouts.ts'
import { endUnpaidSubscription } from '../subscribe/settle-first-payment.ts'

/**
 * Sets the provider that bills an owner. Only possible until a payment was made or is due, because
 * invoices and refunds cannot be moved to another provider.
 */
export async function chooseProvider(
  context: BillingContext,
  owner: Owner,
  provider: ProviderName,
): Promise<void> {
  if (!context.options.providers.find(provider)) {
    throw new InvalidArgument(
      `'${String(provider)}' is not configured: pass its options to createBilling() first`,
    )
  }
  await withOwnerLock(context, owner, async (locked) => {
    const begun = await resumeInterrupted(context, locked)
    const billed = await requireOwner(context, owner)
    if (billed.provider === provider) return
    if (billed.provider && billed.providerId) {
      await closeCheckouts(context, locked, begun)
      await closeUnpaidSubscriptions(context, locked, billed.provider, billed.providerId)
    }
    await locked.lock.write((tx) => context.owners.setProvider(owner, provider, tx))
  })
}

/**
 * Closes the owner's unpaid subscriptions at the old provider.
 * @throws AlreadySubscribed if a subscription is running.
 * @throws ProviderChosen if a payment was made or is due.
 */
async function closeUnpaidSubscriptions(
  context: BillingContext,
  locked: LockedOwner,
  provider: ProviderName,
  customerId: string,
): Promise<void> {
  const gateway = await locked.gateway(provider)
  for (const row of await context.subscriptions.listByOwner(locked.owner)) {
    if (row.provider === provider) await closeUnpaidSubscription(context, locked, row)
  }
  if (await gateway.hasPaid(customerId)) {
    throw new ProviderChosen(
      `The ${locked.owner.type} has payments, or payments due, at ${provider}, and these cannot be moved to another provider`,
    )
  }
}

async function closeUnpaidSubscription(
  context: BillingContext,
  locked: LockedOwner,
  row: SubscriptionRecord,
): Promise<void> {
  const isOver = (columns: SubscriptionRecord | null) =>
    !columns || hasSubscriptionEnded(columns, context.options.clock.now())
  if (isOver(row)) return
  const found = await refreshSubscriptionRow(context, locked, row)
  if (found && awaitsFirstPayment(toStateColumns(context, row.provider, found))) {
    await endUnpaidSubscription(locked, row.provider, found)
    await refreshSubscriptionRow(context, locked, row)
  }
  if (isOver(await context.subscriptions.findByProvider(row.provider, row.providerId))) return
  throw new AlreadySubscribed(
    `The subscription '${row.name}' is still running at ${row.provider}: end it first`,
  )
}

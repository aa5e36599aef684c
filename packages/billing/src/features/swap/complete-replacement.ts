import type { BillingContext } from '../../core/context.ts'
import {
  endSubscriptionRow,
  refreshSubscriptionRow,
  storeSubscription,
} from '../../core/converge.ts'
import type { LockedOwner } from '../../core/locked-owner.ts'
import { finishOperation } from '../../core/operation.ts'
import type { PendingOperation } from '../../core/storage/operations.ts'
import type { ProviderName } from '../../core/values/provider-name.ts'
import type { ProviderSubscription } from '../../providers/subscription.ts'
import { moveDisputes } from '../disputes/store-dispute.ts'

/**
 * Finishes a swap whose new subscription already exists at the provider, by cancelling the old one.
 * Repeated calls have no further effect.
 */
export async function completeReplacement(
  context: BillingContext,
  locked: LockedOwner,
  swap: {
    readonly provider: ProviderName
    readonly made: ProviderSubscription
    readonly from: string
    readonly operation: PendingOperation
  },
): Promise<void> {
  const { provider, made, from, operation } = swap
  // The new row is stored first, so that the user never appears unsubscribed.
  await storeSubscription(context, locked, provider, made)
  const old = await context.subscriptions.findByProvider(provider, from)
  const row = await context.subscriptions.findByProvider(provider, made.id)
  if (old && row) await moveDisputes(context, locked, provider, { from: old, to: row })
  await locked.change(provider, (gateway) => gateway.cancelNow(from))
  await refreshSubscriptionRow(context, locked, { provider, providerId: from })
  // A subscription that was already cancelled would otherwise give access until the end of its
  // period.
  await endSubscriptionRow(context, locked, { provider, providerId: from })
  await finishOperation(context, locked, operation)
}

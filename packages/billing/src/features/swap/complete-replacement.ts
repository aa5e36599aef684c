import type { BillingContext } from '../../core/context.ts'
import { converge, endRow, store } from '../../core/converge.ts'
import type { LockedOwner } from '../../core/locked-owner.ts'
import { finish } from '../../core/operation.ts'
import type { Operation } from '../../core/storage/operations.ts'
import type { ProviderName } from '../../core/values/provider-name.ts'
import type { ProviderSubscription } from '../../providers/subscription.ts'
import { moveDisputes } from '../disputes/store-dispute.ts'

/** Finishes a swap whose new subscription exists. Safe to repeat. */
export async function completeReplacement(
  context: BillingContext,
  locked: LockedOwner,
  swap: {
    readonly provider: ProviderName
    readonly made: ProviderSubscription
    readonly from: string
    readonly operation: Operation
  },
): Promise<void> {
  const { provider, made, from, operation } = swap
  // The new row is stored first, so that the user never appears unsubscribed.
  await store(context, locked, provider, made)
  const old = await context.subscriptions.findByProvider(provider, from)
  const row = await context.subscriptions.findByProvider(provider, made.id)
  if (old && row) await moveDisputes(context, locked, provider, { from: old, to: row })
  await locked.change(provider, (gateway) => gateway.cancelNow(from))
  await converge(context, locked, { provider, providerId: from })
  // A subscription that was already cancelled would otherwise give access until the end of its
  // period.
  await endRow(context, locked, { provider, providerId: from })
  await finish(context, locked, operation)
}

import type { BillingContext } from '../context.ts'
import type { ProviderSubscription } from '../gateways/contract/subscription.ts'
import type { ProviderName } from '../provider-name.ts'
import type { Operation } from '../storage/operations.ts'
import { converge, endRow, store } from './converge.ts'
import { finish } from './operation.ts'
import type { LockedOwner } from './owner-lock.ts'
import { moveDisputes } from './settle-dispute.ts'

/** The rest of a swap whose new subscription stands. Can be repeated. */
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
  // The new row first: at no moment does the user look unsubscribed.
  await store(context, locked, provider, made)
  const old = await context.subscriptions.findByProvider(provider, from)
  const row = await context.subscriptions.findByProvider(provider, made.id)
  if (old && row) await moveDisputes(context, locked, provider, { from: old, to: row })
  await locked.change(provider, (gateway) => gateway.cancelNow(from))
  await converge(context, locked, { provider, providerId: from })
  // One that was cancelled already would have had access for a while.
  await endRow(context, locked, { provider, providerId: from })
  await finish(context, locked, operation)
}

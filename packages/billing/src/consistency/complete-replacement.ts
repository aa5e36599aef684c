import type { BillingContext } from '../context.ts'
import type { Gateway, ProviderSubscription } from '../gateways/contract/gateway.ts'
import type { Operation } from '../storage/operations.ts'
import { converge, endRow, store } from './converge.ts'
import type { Owner } from './user-lock.ts'

/** The rest of a swap whose new subscription stands. Can be repeated. */
export async function completeReplacement(
  context: BillingContext,
  owner: Owner,
  swap: {
    readonly gateway: Gateway
    readonly made: ProviderSubscription
    readonly from: string
    readonly operation: Operation
  },
): Promise<void> {
  const { gateway, made, from, operation } = swap
  // The new row first: at no moment does the user look unsubscribed.
  await store(context, owner, gateway, made)
  await gateway.cancelNow(from)
  await converge(context, owner, { provider: gateway.name, providerId: from })
  // One that was cancelled already would have had access for a while.
  await endRow(context, owner, { provider: gateway.name, providerId: from })
  await owner.lock.write((tx) => context.operations.finish(operation, tx))
}

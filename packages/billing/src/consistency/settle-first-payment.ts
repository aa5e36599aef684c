import type { BillingContext } from '../context.ts'
import { isBillingError } from '../error-codes.ts'
import type { ProviderSubscription } from '../gateways/contract/subscription.ts'
import type { ProviderName } from '../provider-name.ts'
import { pastDue } from '../values/subscription-state.ts'
import { columnsOf, converge, store } from './converge.ts'
import type { LockedOwner } from './owner-lock.ts'

/** Stores what came of it, then says so if it is not paid. A declined one is closed for good. */
export async function settleFirstPayment(
  context: BillingContext,
  locked: LockedOwner,
  provider: ProviderName,
  made: ProviderSubscription,
): Promise<void> {
  await store(context, locked, provider, made)
  // The first payment came long ago: whoever finishes an old operation must not close this.
  if (pastDue(columnsOf(context, provider, made))) return
  try {
    await (await locked.gateway(provider)).requirePaid(made)
  } catch (error) {
    if (isBillingError(error, 'payment_failed')) {
      await abandon(locked, provider, made)
      await converge(context, locked, { provider, providerId: made.id })
    }
    throw error
  }
}

/** Ends one that was never paid. Where the provider has no such state, it is cancelled as any other. */
export function abandon(
  locked: LockedOwner,
  provider: ProviderName,
  found: ProviderSubscription,
): Promise<void> {
  return locked.change(
    provider,
    (gateway) => gateway.confirmations?.abandon(found) ?? gateway.cancelNow(found.id),
  )
}

import type { BillingContext } from '../../core/context.ts'
import { columnsOf, converge, store } from '../../core/converge.ts'
import { isBillingError } from '../../core/errors/error-codes.ts'
import type { LockedOwner } from '../../core/locked-owner.ts'
import type { ProviderName } from '../../core/values/provider-name.ts'
import { pastDue } from '../../core/values/subscription-state.ts'
import type { ProviderSubscription } from '../../providers/subscription.ts'

/**
 * Stores the new subscription, then throws if its first payment is missing. After a decline, the
 * subscription is closed for good.
 */
export async function settleFirstPayment(
  context: BillingContext,
  locked: LockedOwner,
  provider: ProviderName,
  made: ProviderSubscription,
): Promise<void> {
  await store(context, locked, provider, made)
  // When an old operation is finished late, the first payment came long ago: a later payment that
  // is past due must not close the subscription.
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

/**
 * Ends a subscription that was never paid. If the provider has no such state, it is cancelled like
 * any other.
 */
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

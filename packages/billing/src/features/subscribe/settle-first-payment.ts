import type { BillingContext } from '../../core/context.ts'
import { refreshSubscriptionRow, storeSubscription, toStateColumns } from '../../core/converge.ts'
import { isBillingError } from '../../core/errors/error-codes.ts'
import type { LockedOwner } from '../../core/locked-owner.ts'
import type { ProviderName } from '../../core/values/provider-name.ts'
import { isPastDue } from '../../core/values/subscription-state.ts'
import type { ProviderSubscription } from '../../providers/subscription.ts'

/**
 * Stores a new subscription in our database, then throws if its first payment is missing. If the
 * payment was declined, ends the subscription first.
 */
export async function settleFirstPayment(
  context: BillingContext,
  locked: LockedOwner,
  provider: ProviderName,
  made: ProviderSubscription,
): Promise<void> {
  await storeSubscription(context, locked, provider, made)
  // When an old operation is finished late, the first payment came long ago: a later payment that
  // is past due must not close the subscription.
  if (isPastDue(toStateColumns(context, provider, made))) return
  try {
    await (await locked.gateway(provider)).requirePaid(made)
  } catch (error) {
    if (isBillingError(error, 'payment_failed')) {
      await endUnpaidSubscription(locked, provider, made)
      await refreshSubscriptionRow(context, locked, { provider, providerId: made.id })
    }
    throw error
  }
}

/**
 * Ends a subscription whose first payment was never made. At a provider where new subscriptions are
 * never unpaid, cancels it like any other subscription.
 */
export function endUnpaidSubscription(
  locked: LockedOwner,
  provider: ProviderName,
  found: ProviderSubscription,
): Promise<void> {
  return locked.change(
    provider,
    (gateway) => gateway.confirmations?.abandon(found) ?? gateway.cancelNow(found.id),
  )
}

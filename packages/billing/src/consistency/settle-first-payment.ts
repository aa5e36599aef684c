import type { BillingContext } from '../context.ts'
import { PaymentFailed } from '../errors.ts'
import type { Gateway, ProviderSubscription } from '../gateways/contract/gateway.ts'
import { PAST_DUE_STATUSES } from '../values/subscription-state.ts'
import { converge, store } from './converge.ts'
import type { Owner } from './user-lock.ts'

/** Stores what came of it, then says so if it is not paid. A declined one is closed for good. */
export async function settleFirstPayment(
  context: BillingContext,
  owner: Owner,
  gateway: Gateway,
  made: ProviderSubscription,
): Promise<void> {
  await store(context, owner, gateway, made)
  // The first payment came long ago: whoever finishes an old operation must not close this.
  if (PAST_DUE_STATUSES.includes(made.status)) return
  try {
    await gateway.requirePaid(made)
  } catch (error) {
    if (error instanceof PaymentFailed) {
      await gateway.abandon(made)
      await converge(context, owner, { provider: gateway.name, providerId: made.id })
    }
    throw error
  }
}

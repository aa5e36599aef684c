import type { BillingContext } from './context.ts'
import { converge, store } from './converge.ts'
import { PaymentFailed } from './errors.ts'
import type { Gateway, ProviderSubscription } from './gateways/gateway.ts'
import type { Owner } from './owner.ts'

/** Stores what came of it, then says so if it is not paid. A declined one is closed for good. */
export async function settleFirstPayment(
  context: BillingContext,
  owner: Owner,
  gateway: Gateway,
  made: ProviderSubscription,
): Promise<void> {
  await store(context, owner, gateway, made)
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

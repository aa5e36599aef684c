import type { GatewayParts } from '../../providers/gateway-parts.ts'
import type { StripeContext } from '../../providers/stripe/client.ts'
import { findMainItem, retrieveSubscription } from '../../providers/stripe/describe-subscription.ts'

/** Implements the quantity of a subscription's main price for Stripe. */
export function createStripeQuantities({
  stripe,
}: StripeContext): Pick<GatewayParts, 'quantities'> {
  return {
    quantities: {
      async set(id, quantity) {
        const main = findMainItem(await retrieveSubscription(stripe, id))
        if (!main) throw new Error('The subscription has no item')
        await stripe.subscriptions.update(id, {
          items: [{ id: main.id, quantity }],
          payment_behavior: 'error_if_incomplete',
        })
      },
    },
  }
}

import type { HandlerContext, HandlerName } from '../handlers.ts'
import type { Stripe } from '../sdk-types.ts'

/** Webhook handlers for Stripe's events, one method per event type. */
export type StripeHandlers = {
  [Event in Stripe.Event as string extends Event['type'] ? never : HandlerName<Event['type']>]?: (
    payload: Event,
    context: HandlerContext,
  ) => unknown
}

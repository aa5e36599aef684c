// biome-ignore lint/suspicious/noTsIgnore: an error is expected only where the SDK is missing
/** @ts-ignore The SDK is missing where another provider is used alone: its types are `any` there. */
import type Stripe from 'stripe'
import type { HandlerContext, HandlerName } from '../../contract/handlers.ts'

/** A method for each of Stripe's events, with the event as its payload. */
export type StripeHandlers = {
  [Event in Stripe.Event as string extends Event['type'] ? never : HandlerName<Event['type']>]?: (
    payload: Event,
    context: HandlerContext,
  ) => unknown
}

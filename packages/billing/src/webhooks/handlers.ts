import type braintree from 'braintree'
import type Stripe from 'stripe'
import type { ProviderName } from '../errors.ts'

type Words<
  Text extends string,
  Separator extends string,
> = Text extends `${infer First}${Separator}${infer Rest}`
  ? `${Capitalize<First>}${Words<Rest, Separator>}`
  : Capitalize<Text>

/** `invoice.payment_succeeded` → `handleInvoicePaymentSucceeded`, as a type. */
export type HandlerName<Type extends string> = `handle${Words<Words<Type, '.'>, '_'>}`

/** What a handler gets beside the event. */
export interface HandlerContext {
  readonly provider: ProviderName
  readonly eventId: string
  /** Does what Tollgate does with this event when there is no handler. */
  runDefault(): Promise<void>
}

/** A method for each of Stripe's events, with the event as its payload. */
export type StripeHandlers = {
  [Event in Stripe.Event as string extends Event['type'] ? never : HandlerName<Event['type']>]?: (
    payload: Event,
    context: HandlerContext,
  ) => unknown
}

type NotificationOf<Kind, Notification = braintree.WebhookNotification> = Notification extends {
  readonly kind: infer Kinds
}
  ? Kind extends Kinds
    ? Notification & { readonly kind: Kind }
    : never
  : never

/** A method for each of Braintree's kinds, with the SDK's notification. */
export type BraintreeHandlers = {
  [Kind in braintree.WebhookNotificationKind as HandlerName<Kind>]?: (
    notification: NotificationOf<Kind>,
    context: HandlerContext,
  ) => unknown
}

/**
 * Methods that run in place of the default ones; `context.runDefault()` runs those too.
 * @example
 * const handlers: WebhookHandlers = {
 *   async handleInvoicePaymentSucceeded(payload) { await sendReceipt(payload.data.object) },
 *   async handleDisputeOpened(notification) { await tellSupport(notification.dispute) },
 * }
 */
export type WebhookHandlers = StripeHandlers & BraintreeHandlers

/** The same as a value. */
export function handlerName(type: string): string {
  const words = type.split(/[._]/).filter((word) => word !== '')
  return `handle${words.map((word) => word[0]?.toUpperCase() + word.slice(1)).join('')}`
}

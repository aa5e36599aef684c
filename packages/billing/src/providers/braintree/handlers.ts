import type { HandlerContext, HandlerName } from '../handlers.ts'
import type { braintree } from '../sdk-types.ts'

/**
 * The SDK's type of a notification, by its kind.
 * @example
 * async function tellSupport(notification: BraintreeNotification<'dispute_opened'>) { … }
 */
export type BraintreeNotification<
  Kind,
  Notification = braintree.WebhookNotification,
> = Notification extends { readonly kind: infer Kinds }
  ? Kind extends Kinds
    ? Notification & { readonly kind: Kind }
    : never
  : never

/** Webhook handlers for Braintree's notifications, one method per kind. */
export type BraintreeHandlers = {
  [Kind in braintree.WebhookNotificationKind as string extends Kind ? never : HandlerName<Kind>]?: (
    notification: BraintreeNotification<Kind>,
    context: HandlerContext,
  ) => unknown
}

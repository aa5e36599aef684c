import type braintree from 'braintree'
import type { HandlerContext, HandlerName } from '../../contract/handlers.ts'

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

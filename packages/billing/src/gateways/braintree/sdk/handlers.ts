// biome-ignore lint/suspicious/noTsIgnore: an error is expected only where the SDK is missing
/** @ts-ignore The SDK is missing where another provider is used alone: its types are `any` there. */
import type braintree from 'braintree'
import type { HandlerContext, HandlerName } from '../../contract/handlers.ts'

/**
 * The SDK's notification of one kind, for a handler that is written elsewhere.
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

/** A method for each of Braintree's kinds, with the SDK's notification. */
export type BraintreeHandlers = {
  [Kind in braintree.WebhookNotificationKind as string extends Kind ? never : HandlerName<Kind>]?: (
    notification: BraintreeNotification<Kind>,
    context: HandlerContext,
  ) => unknown
}

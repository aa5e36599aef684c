import type { ProviderName } from '../core/values/provider-name.ts'

/**
 * Derives the handler's name from an event type: `invoice.payment_succeeded` →
 * `handleInvoicePaymentSucceeded`.
 */
export type HandlerName<
  Type extends string,
  Begun extends string = 'handle',
> = Type extends `${infer Before}.${infer After}`
  ? HandlerName<`${Before}_${After}`, Begun>
  : Type extends `${infer Word}_${infer Rest}`
    ? HandlerName<Rest, `${Begun}${Capitalize<Word>}`>
    : `${Begun}${Capitalize<Type>}`

/** Second argument of a webhook handler. */
export interface HandlerContext {
  /** The provider that sent the event. */
  readonly provider: ProviderName
  /** The provider's id of the event, the same for every repeat. */
  readonly eventId: string
  /** Runs the default handling of this event. */
  runDefault(): Promise<void>
}

/**
 * A handler for one type of webhook event. Receives the event as an object of the provider's SDK.
 */
export type WebhookHandler = (event: unknown, context: HandlerContext) => unknown

/** Derives the handler's name from an event type at run time, see the type `HandlerName`. */
export function buildHandlerName(type: string): string {
  const words = type.split(/[._]/).filter((word) => word !== '')
  return `handle${words.map((word) => word[0]?.toUpperCase() + word.slice(1)).join('')}`
}

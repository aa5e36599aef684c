import type { ProviderName } from '../../provider-name.ts'

/** `invoice.payment_succeeded` → `handleInvoicePaymentSucceeded`, as a type. */
export type HandlerName<
  Type extends string,
  Begun extends string = 'handle',
> = Type extends `${infer Before}.${infer After}`
  ? HandlerName<`${Before}_${After}`, Begun>
  : Type extends `${infer Word}_${infer Rest}`
    ? HandlerName<Rest, `${Begun}${Capitalize<Word>}`>
    : `${Begun}${Capitalize<Type>}`

/** What a handler gets beside the event. */
export interface HandlerContext {
  /** Who sent the event. */
  readonly provider: ProviderName
  /** The provider's id of the event; a repeat has the same one. */
  readonly eventId: string
  /** Does what Tollgate does with this event when there is no handler. */
  runDefault(): Promise<void>
}

/** A method for one event, with the SDK's own object. */
export type WebhookHandler = (event: unknown, context: HandlerContext) => unknown

/** `HandlerName` as a value. */
export function handlerName(type: string): string {
  const words = type.split(/[._]/).filter((word) => word !== '')
  return `handle${words.map((word) => word[0]?.toUpperCase() + word.slice(1)).join('')}`
}

import type { VerifiedEvent } from '../webhook.ts'

/** Where a provider sends its events, in our words. */
export interface ProviderEndpoint {
  /** The provider's id. */
  readonly id: string
  /** Where events go. */
  readonly url: string
  /** Which events; `*` stands for all. */
  readonly events: readonly string[]
  /** Whether any are sent. */
  readonly isEnabled: boolean
  /** Whether an event is sent whole, or only named, as those that tell of usage are. */
  readonly payload: 'whole' | 'thin'
  /** In whose version events are written; null for the account's. */
  readonly apiVersion: string | null
  /** Whether that is another version than the one that the gateway speaks. */
  readonly hasOtherVersion: boolean
}

/** Which events are meant: one, or those of a time. */
export interface EventQuery {
  /** The provider's id of one. */
  readonly id?: string
  /** Not before. */
  readonly from?: Date
  /** Not after. */
  readonly to?: Date
  /** In the provider's words. */
  readonly type?: string
}

/** Addresses for events that can be registered by a program, and the events that the provider keeps. */
export interface WebhookEndpoints {
  /** All of the account, also those of others. A kind that the key may not list is left out, and `onUnlisted` is told why. */
  list(onUnlisted?: (why: string) => void): Promise<ProviderEndpoint[]>
  /** The secret is told this once. `thin` only where the provider has `usageEvents`. */
  create(endpoint: {
    readonly url: string
    readonly events: readonly string[]
    readonly payload?: ProviderEndpoint['payload']
  }): Promise<{ readonly id: string; readonly secret: string }>
  /** Nothing happens when there is none. */
  remove(id: string): Promise<void>
  /** Hands over what the provider still has, one after the other. */
  eachEvent(query: EventQuery, take: (event: VerifiedEvent) => Promise<void>): Promise<void>
}

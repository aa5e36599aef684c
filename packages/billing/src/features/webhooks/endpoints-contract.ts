import type { VerifiedEvent } from '../../providers/webhook.ts'

/** An endpoint to which a provider sends its events. */
export interface ProviderEndpoint {
  /** The provider's id of the endpoint. */
  readonly id: string
  /** The URL that receives the events. */
  readonly url: string
  /** Types of the events that are sent; `*` stands for all. */
  readonly events: readonly string[]
  /** Whether events are sent. */
  readonly isEnabled: boolean
  /**
   * Whether an event contains its object (`whole`), or only names it (`thin`), like the events
   * about usage.
   */
  readonly payload: 'whole' | 'thin'
  /** API version in which the events are written. `null` for the account's version. */
  readonly apiVersion: string | null
  /** Whether the API version differs from that of the gateway. */
  readonly hasOtherVersion: boolean
}

/** Selects events: one by its id, or a period of time. */
export interface EventQuery {
  /** The provider's id of one event. */
  readonly id?: string
  /** Earliest time of the events. */
  readonly from?: Date
  /** Latest time of the events. */
  readonly to?: Date
  /** The provider's name of the event type. */
  readonly type?: string
}

/** Webhook endpoints that a program can register, and events that the provider keeps. */
export interface WebhookEndpoints {
  /**
   * Lists all endpoints of the account, including those of other applications. A kind that the API
   * key may not list is left out, and `onUnlisted` receives the reason.
   */
  list(onUnlisted?: (why: string) => void): Promise<ProviderEndpoint[]>
  /**
   * Registers an endpoint. The secret is returned only once. `thin` requires that the provider has
   * `usageEvents`.
   */
  create(endpoint: {
    readonly url: string
    readonly events: readonly string[]
    readonly payload?: ProviderEndpoint['payload']
  }): Promise<{ readonly id: string; readonly secret: string }>
  /** Deletes an endpoint. Does nothing if there is none. */
  remove(id: string): Promise<void>
  /** Reads the events that the provider still has, one after the other. */
  eachEvent(query: EventQuery, take: (event: VerifiedEvent) => Promise<void>): Promise<void>
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /** Webhook endpoints that a program can register. */
    readonly webhookEndpoints: WebhookEndpoints
  }

  interface ReadingMethods {
    readonly webhookEndpoints: 'list' | 'eachEvent'
  }
}

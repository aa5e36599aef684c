import type { VerifiedEvent } from '../../providers/webhook.ts'

/** A webhook endpoint that is registered at the provider. */
export interface ProviderEndpoint {
  /** The provider's id of the endpoint. */
  readonly id: string
  /** The URL that receives the events. */
  readonly url: string
  /** Types of events that the provider sends to the endpoint. `*` stands for all. */
  readonly events: readonly string[]
  /** Whether the endpoint is enabled. The provider sends no events to a disabled one. */
  readonly isEnabled: boolean
  /**
   * Content of the events: the whole changed object (`whole`) or only its id (`thin`), as in
   * Stripe's events about rejected usage.
   */
  readonly payload: 'whole' | 'thin'
  /**
   * The provider's API version that determines the form of the events. `null` for the default
   * version of the account.
   */
  readonly apiVersion: string | null
  /** Whether this API version differs from the version that the gateway uses. */
  readonly hasOtherVersion: boolean
}

/** Selects provider events: one by its id, or all in a period of time. */
export interface EventQuery {
  /** The provider's id of one event. */
  readonly id?: string
  /** Start of the period: earliest creation time of the events. */
  readonly from?: Date
  /** End of the period: latest creation time of the events. Default: now. */
  readonly to?: Date
  /** The provider's name of the event type, such as `invoice.paid`. Default: all types. */
  readonly type?: string
}

/**
 * Gateway interface for providers whose webhook endpoints can be registered by a program, and who
 * keep past events.
 */
export interface WebhookEndpoints {
  /**
   * Lists all webhook endpoints of the provider account, including those of other applications. If
   * the API key may not list a kind of endpoint, that kind is left out, and `onUnlisted` is called
   * with the reason.
   */
  list(onUnlisted?: (why: string) => void): Promise<ProviderEndpoint[]>
  /**
   * Registers a webhook endpoint. The secret is returned only once, on creation. The payload `thin`
   * is only for providers with `usageEvents`.
   */
  create(endpoint: {
    readonly url: string
    readonly events: readonly string[]
    readonly payload?: ProviderEndpoint['payload']
  }): Promise<{ readonly id: string; readonly secret: string }>
  /** Deletes a webhook endpoint. Does nothing if there is none with this id. */
  remove(id: string): Promise<void>
  /**
   * Reads past events that the provider still keeps, and calls `take` for each, one after the
   * other.
   */
  eachEvent(query: EventQuery, take: (event: VerifiedEvent) => Promise<void>): Promise<void>
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /** Gateway interface for registering webhook endpoints at the provider. */
    readonly webhookEndpoints: WebhookEndpoints
  }

  interface ReadOnlyMethods {
    readonly webhookEndpoints: 'list' | 'eachEvent'
  }
}

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
  /** In whose version events are written; null for the account's. */
  readonly apiVersion: string | null
}

/** Addresses for events that can be registered by a program. */
export interface WebhookEndpoints {
  /** All of the account, also those of others. */
  list(): Promise<ProviderEndpoint[]>
  /** The secret is told this once. */
  create(endpoint: {
    readonly url: string
    readonly events: readonly string[]
  }): Promise<{ readonly id: string; readonly secret: string }>
}

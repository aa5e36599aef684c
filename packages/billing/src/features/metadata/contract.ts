import type { MetadataValues } from '../../providers/subscription.ts'

/**
 * Gateway interface for reading the metadata of subscriptions. It is set when a subscription is
 * created, by `NewSubscription.metadata`.
 */
export interface SubscriptionMetadata {
  /**
   * Returns the application's metadata of a subscription, without the keys that the gateway itself
   * adds. `raw` is the object of the provider's SDK.
   */
  read(found: { readonly raw: unknown }): Promise<MetadataValues>
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /** Gateway interface for reading the metadata of subscriptions. */
    readonly metadata: SubscriptionMetadata
  }

  interface ReadOnlyMethods {
    readonly metadata: 'read'
  }
}

/** The application's own key-value pairs, stored with an object at the provider. */
export type Metadata = Readonly<Record<string, string>>

/** Metadata of subscriptions. New subscriptions get it as `metadata`. */
export interface SubscriptionMetadata {
  /**
   * Returns the application's metadata without keys that the gateway adds. `raw` is the provider's
   * own object.
   */
  read(found: { readonly raw: unknown }): Promise<Metadata>
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /** Metadata of subscriptions. */
    readonly metadata: SubscriptionMetadata
  }

  interface ReadingMethods {
    readonly metadata: 'read'
  }
}

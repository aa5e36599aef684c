/** The page of the provider's billing portal to open. `null` for its start page. */
export type PortalFlow =
  | { readonly kind: 'payment_method' }
  | { readonly kind: 'cancel'; readonly subscriptionId: string }
  | { readonly kind: 'update'; readonly subscriptionId: string }
  | null

/** A customer's visit to the provider's billing portal. */
export interface PortalVisit {
  /** The provider's id of the customer. */
  readonly customerId: string
  /** URL on our host to which the portal's link back leads. */
  readonly returnUrl: string
  /** The page of the portal to open. `null` for its start page. */
  readonly flow: PortalFlow
  /** Language of the portal, such as `de`. `null` for the browser's language. */
  readonly locale: string | null
}

/** The provider's billing portal, on which customers manage cards and subscriptions. */
export interface PortalPages {
  /** Creates a link to the billing portal for one visit. Each call returns a new link. */
  open(visit: PortalVisit): Promise<{ readonly url: string }>
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /** Gateway interface to the provider's billing portal. */
    readonly portal: PortalPages
  }
}

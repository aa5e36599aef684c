/** The page of the portal to open. `null` for its start page. */
export type PortalFlow =
  | { readonly kind: 'payment_method' }
  | { readonly kind: 'cancel'; readonly subscriptionId: string }
  | { readonly kind: 'update'; readonly subscriptionId: string }
  | null

/** A customer's visit to the portal. */
export interface PortalVisit {
  /** The provider's id of the customer. */
  readonly customerId: string
  /** URL of the link back, on our host. */
  readonly returnUrl: string
  /** The page to open. */
  readonly flow: PortalFlow
  /** Language of the pages. `null` for the browser's. */
  readonly locale: string | null
}

/** The provider's billing portal, on which customers manage cards and subscriptions. */
export interface PortalPages {
  /** Creates a link for one visit. Each call returns a new one. */
  open(visit: PortalVisit): Promise<{ readonly url: string }>
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /** The provider's billing portal. */
    readonly portal: PortalPages
  }
}

/** What the customer came for; null is the portal's own first page. */
export type PortalFlow =
  | { readonly kind: 'payment_method' }
  | { readonly kind: 'cancel'; readonly subscriptionId: string }
  | { readonly kind: 'update'; readonly subscriptionId: string }
  | null

/** A customer on their way to the portal. */
export interface PortalVisit {
  /** Whose portal it is. */
  readonly customerId: string
  /** Where the way back leads; on our host. */
  readonly returnUrl: string
  /** What they came for. */
  readonly flow: PortalFlow
  /** The language of the pages; null leaves it to the browser. */
  readonly locale: string | null
}

/** Pages of the provider's on which customers look after their subscriptions. */
export interface PortalPages {
  /** A link for this visit alone. A repeat gives another one, which does no harm. */
  open(visit: PortalVisit): Promise<{ readonly url: string }>
}

/** A subscription item (price) in a common format. */
export interface ProviderItem {
  /** The item's id at the provider, unique across subscriptions. */
  readonly id: string
  /** The provider's id of the price. */
  readonly price: string
  /** The provider's id of the product. `null` if the provider does not say. */
  readonly product: string | null
  /** Number of units. `null` for metered prices. */
  readonly quantity: number | null
  /** Whether the price is metered. */
  readonly isMetered: boolean
  /** Whether this is the main price, which is stored in the subscription's own row. */
  readonly isMain: boolean
}

/** A price that a subscription should have. */
export interface RequestedItem {
  /** The provider's id of the price. */
  readonly price: string
  /** Number of units. `null` for metered prices. */
  readonly quantity: number | null
}

/** One price of a subscription, in our words. */
export interface ProviderItem {
  /** The provider's id; no two subscriptions have the same one. */
  readonly id: string
  /** The provider's id of the price. */
  readonly price: string
  /** The provider's id of what is sold; null where it does not say. */
  readonly product: string | null
  /** Null where usage is counted instead. */
  readonly quantity: number | null
  /** Whether usage is counted. */
  readonly isMetered: boolean
  /** The price that the row of the subscription names. */
  readonly isMain: boolean
}

/** A price that a subscription is to have. */
export interface WantedItem {
  /** The provider's id of the price. */
  readonly price: string
  /** Null where usage is counted instead. */
  readonly quantity: number | null
}

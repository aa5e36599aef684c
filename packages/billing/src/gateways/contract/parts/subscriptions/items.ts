/** One price of a subscription, in our words. */
export interface ProviderItem {
  /** The provider's id. */
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

/** All prices that a subscription is to have. Never `one more`: a repeat would add another one. */
export interface ItemsChange {
  /** The main price first. What is not among them is removed. */
  readonly wanted: readonly WantedItem[]
  /** Whether what is unused of the old ones counts towards the new ones. */
  readonly prorate: boolean
  /** Bill the difference at once instead of with the next invoice. */
  readonly invoiceNow: boolean
  /** The moment a preview was made for, to get the same cents. */
  readonly prorationDate: Date | null
  /** The operation it belongs to. */
  readonly operation: string
}

/** Several prices in one subscription. They are told by `ProviderSubscription.items`. */
export interface SubscriptionItems {
  /** A repeat sets the same prices again. */
  change(id: string, change: ItemsChange, now: Date): Promise<void>
}

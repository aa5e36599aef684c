/** A tax id in our words. */
export interface ProviderTaxId {
  /** The provider's id. */
  readonly id: string
  /** In the provider's words, such as `eu_vat`. */
  readonly type: string
  /** As it was given. */
  readonly value: string
  /** Two capital letters; null where the type says none. */
  readonly country: string | null
  /** What the office says of it. */
  readonly verification: 'pending' | 'verified' | 'unverified' | 'unavailable'
  /** The provider's own object. */
  readonly raw: unknown
}

/** A tax id to be kept. */
export interface NewTaxId {
  /** Whose it is. */
  readonly customerId: string
  /** In the provider's words, such as `eu_vat`. */
  readonly type: string
  /** As people write it. */
  readonly value: string
  /** The operation it belongs to. */
  readonly operation: string
}

/** Tax ids of customers. */
export interface TaxIds {
  /** Oldest first. */
  list(customerId: string): Promise<ProviderTaxId[]>
  /** The same type and value gives the one that is there. */
  create(taxId: NewTaxId): Promise<ProviderTaxId>
  /** Nothing happens when it is gone already. */
  remove(customerId: string, id: string): Promise<void>
}

/** A tax id of a customer. */
export interface ProviderTaxId {
  /** The provider's id of the tax id. */
  readonly id: string
  /** The provider's name of the type, such as `eu_vat`. */
  readonly type: string
  /** The number, as it was given. */
  readonly value: string
  /** Country code of two capital letters. `null` if the type has none. */
  readonly country: string | null
  /** Result of the tax office's verification. */
  readonly verification: 'pending' | 'verified' | 'unverified' | 'unavailable'
  /** The provider's own object. */
  readonly raw: unknown
}

/** A tax id to be added. */
export interface NewTaxId {
  /** The provider's id of the customer. */
  readonly customerId: string
  /** The provider's name of the type, such as `eu_vat`. */
  readonly type: string
  /** The number, as people write it. */
  readonly value: string
  /** Id of the operation that adds it. */
  readonly operation: string
}

/** Tax ids of customers. */
export interface TaxIds {
  /** Lists the tax ids of a customer, oldest first. */
  list(customerId: string): Promise<ProviderTaxId[]>
  /** Adds a tax id. Returns the existing one for the same type and value. */
  create(taxId: NewTaxId): Promise<ProviderTaxId>
  /** Deletes a tax id. Does nothing if it does not exist. */
  remove(customerId: string, id: string): Promise<void>
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /** Tax ids of customers. */
    readonly taxIds: TaxIds
  }

  interface ReadingMethods {
    readonly taxIds: 'list'
  }
}

/** A tax id of a customer, such as a VAT number. */
export interface ProviderTaxId {
  /** The provider's id of the tax id. */
  readonly id: string
  /** Type of the tax id, as the provider names it, such as `eu_vat`. */
  readonly type: string
  /** The number of the tax id, as it was passed to `create()`. */
  readonly value: string
  /** Two-letter country code, in capitals. `null` if the type of tax id belongs to no country. */
  readonly country: string | null
  /**
   * Result of checking the number with the tax office's register. `unavailable`: it cannot be
   * checked.
   */
  readonly verification: 'pending' | 'verified' | 'unverified' | 'unavailable'
  /** The object as the provider's SDK returned it. */
  readonly raw: unknown
}

/** A tax id to be added. */
export interface NewTaxId {
  /** The provider's id of the customer. */
  readonly customerId: string
  /** Type of the tax id, as the provider names it, such as `eu_vat`. */
  readonly type: string
  /** The number of the tax id in its usual notation, such as `DE123456789`. */
  readonly value: string
  /** Id of our operation that adds the tax id. It serves as idempotency key. */
  readonly operation: string
}

/** Gateway interface to the tax ids of customers. */
export interface TaxIds {
  /** Lists the tax ids of a customer, oldest first. */
  list(customerId: string): Promise<ProviderTaxId[]>
  /**
   * Adds a tax id to a customer. Returns the existing tax id if the customer has one of the same
   * type and value.
   */
  create(taxId: NewTaxId): Promise<ProviderTaxId>
  /** Deletes a tax id. Does nothing if it does not exist. */
  remove(customerId: string, id: string): Promise<void>
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /** Gateway interface to the tax ids of customers. */
    readonly taxIds: TaxIds
  }

  interface ReadOnlyMethods {
    readonly taxIds: 'list'
  }
}

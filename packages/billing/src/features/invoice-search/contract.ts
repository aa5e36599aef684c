/** An invoice found by a search. */
export interface InvoiceHit {
  /** The provider's id of the invoice. */
  readonly id: string
  /** The provider's id of the customer to whom the invoice was issued. */
  readonly customerId: string
}

/** Search for invoices of all customers. */
export interface InvoiceSearch {
  /**
   * Finds invoices by the number printed on them, or by their id. If many match, returns only some
   * of them.
   */
  find(number: string): Promise<InvoiceHit[]>
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /** Search for invoices of all customers. */
    readonly invoiceSearch: InvoiceSearch
  }

  interface ReadOnlyMethods {
    readonly invoiceSearch: 'find'
  }
}

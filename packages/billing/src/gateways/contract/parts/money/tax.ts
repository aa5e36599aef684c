/** Taxes that the provider works out from the customer's address. */
export interface AutomaticTax {
  /** For charges to come. */
  set(subscriptionId: string, isOn: boolean): Promise<void>
  /** As it was chosen for this one, where the application says nothing of tax; any other tax stays. */
  followChoice(subscriptionId: string): Promise<void>
}

/** Rates of the provider's own for each price. */
export interface LineRates {
  /** Ids of rates by id of price, for charges to come. No percentage of the whole comes on top of them. */
  set(subscriptionId: string, rates: Readonly<Record<string, readonly string[]>>): Promise<void>
}

/** Whether a customer pays tax: as anybody, not at all, or to the office themselves. */
export type TaxExemption = 'none' | 'exempt' | 'reverse'

/** Customers who pay no tax. */
export interface TaxExemptions {
  /** As the provider has it. */
  read(customerId: string): Promise<TaxExemption>
  /** For charges to come. */
  set(customerId: string, exemption: TaxExemption): Promise<void>
}

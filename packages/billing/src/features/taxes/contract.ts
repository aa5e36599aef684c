/** Taxes that the provider calculates from the customer's address. */
export interface AutomaticTax {
  /** Turns automatic tax on or off for future charges. */
  set(subscriptionId: string, isOn: boolean): Promise<void>
  /**
   * Restores the tax that was chosen for this subscription, when the application configures no tax.
   * Any other tax stays.
   */
  followChoice(subscriptionId: string): Promise<void>
}

/** The provider's tax rates for each price. */
export interface LineRates {
  /**
   * Sets tax rate ids by price id for future charges, in place of a percentage for the whole
   * subscription.
   */
  set(subscriptionId: string, rates: Readonly<Record<string, readonly string[]>>): Promise<void>
}

/**
 * Whether a customer pays tax: `none` for normal taxation, `exempt` for no tax, `reverse` if the
 * customer owes it to the tax office (reverse charge).
 */
export type TaxExemption = 'none' | 'exempt' | 'reverse'

/** Customers who pay no tax. */
export interface TaxExemptions {
  /** Reads the exemption. */
  read(customerId: string): Promise<TaxExemption>
  /** Sets the exemption for future charges. */
  set(customerId: string, exemption: TaxExemption): Promise<void>
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /** Taxes by the customer's address. */
    readonly automaticTax: AutomaticTax
    /** The provider's tax rates for each price. */
    readonly lineRates: LineRates
    /** Customers who pay no tax. */
    readonly taxExemptions: TaxExemptions
  }

  interface ReadingMethods {
    readonly taxExemptions: 'read'
  }
}

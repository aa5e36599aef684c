/** Gateway interface for taxes that the provider calculates from the customer's address. */
export interface AutomaticTax {
  /** Turns automatic tax on or off for future charges of a subscription. */
  set(subscriptionId: string, isOn: boolean): Promise<void>
  /**
   * Restores the tax that was chosen for this subscription with `withTax()`. Called if the
   * application configures no tax. Does nothing if no tax was chosen.
   */
  followChoice(subscriptionId: string): Promise<void>
}

/** Gateway interface for taxing each price of a subscription with the provider's tax rates. */
export interface LineTaxRates {
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

/** Gateway interface for exempting customers from taxes. */
export interface TaxExemptions {
  /** Reads whether the customer is exempt from taxes. */
  read(customerId: string): Promise<TaxExemption>
  /** Sets whether the customer is exempt from taxes, for future charges. */
  set(customerId: string, exemption: TaxExemption): Promise<void>
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /** Gateway interface for taxes that the provider calculates from the customer's address. */
    readonly automaticTax: AutomaticTax
    /** Gateway interface for taxing each price of a subscription with the provider's tax rates. */
    readonly lineRates: LineTaxRates
    /** Gateway interface for exempting customers from taxes. */
    readonly taxExemptions: TaxExemptions
  }

  interface ReadOnlyMethods {
    readonly taxExemptions: 'read'
  }
}

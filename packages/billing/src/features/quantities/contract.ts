/**
 * Gateway interface for the quantity (number of units, such as seats) of a subscription's main
 * price.
 */
export interface QuantityChanges {
  /** Sets the quantity of the subscription's main price. */
  set(id: string, quantity: number): Promise<void>
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /** Gateway interface for the quantity of a subscription's main price. */
    readonly quantities: QuantityChanges
  }
}

/** Quantity (number of units, such as seats) of a subscription's main price. */
export interface Quantities {
  /** Sets the quantity. Idempotent: a repeated call sets the same quantity again. */
  set(id: string, quantity: number): Promise<void>
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /** Quantity of a subscription's main price. */
    readonly quantities: Quantities
  }
}

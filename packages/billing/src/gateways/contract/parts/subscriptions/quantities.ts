/** Several of one plan in a subscription. */
export interface Quantities {
  /** A repeat sets the same quantity again. */
  set(id: string, quantity: number): Promise<void>
}

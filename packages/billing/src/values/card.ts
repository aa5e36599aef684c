/** How the customer pays, for show. One side is null. */
export interface CardSummary {
  readonly cardBrand: string | null
  readonly cardLastFour: string | null
  readonly paypalEmail: string | null
}

export const NO_CARD: CardSummary = { cardBrand: null, cardLastFour: null, paypalEmail: null }

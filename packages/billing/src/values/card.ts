/** How the customer pays, for show. One side is null. */
export interface CardSummary {
  /** Such as `visa`; null without a card. */
  readonly cardBrand: string | null
  /** Its last four digits; null without a card. */
  readonly cardLastFour: string | null
  /** The PayPal account; null for a card. */
  readonly paypalEmail: string | null
}

/** Nothing to charge. */
export const NO_CARD: CardSummary = { cardBrand: null, cardLastFour: null, paypalEmail: null }

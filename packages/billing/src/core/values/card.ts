/** The customer's default payment method, for display: either a card or a PayPal account. */
export interface CardSummary {
  /** Brand of the card, such as `visa`. `null` if there is no card. */
  readonly cardBrand: string | null
  /** Last four digits of the card or bank account. `null` if there is neither. */
  readonly cardLastFour: string | null
  /** E-mail address of the PayPal account. `null` for a card. */
  readonly paypalEmail: string | null
  /**
   * Last month in which the card is valid, such as `2027-04`. `null` or missing if the card does
   * not expire.
   */
  readonly cardExpires?: string | null
}

/** The `CardSummary` of a customer without a payment method. */
export const NO_CARD: CardSummary = { cardBrand: null, cardLastFour: null, paypalEmail: null }

/** The last month in which a card is valid. */
export interface CardExpiry {
  /** Month, from 1 to 12. */
  readonly month: number
  /** Year, with four digits. */
  readonly year: number
}

/** Formats an expiry for the column `card_expires`. */
export function toExpiryText({ month, year }: CardExpiry): string {
  return `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}`
}

/** Whether a card has expired at a moment: from the first of the following month on, in UTC. */
export function isExpiredAt({ month, year }: CardExpiry, at: Date): boolean {
  return at.getTime() >= Date.UTC(year, month)
}

/** How the customer pays, for show. One side is null. */
export interface CardSummary {
  /** Such as `visa`; null without a card. */
  readonly cardBrand: string | null
  /** Its last four digits, or those of a bank account; null without one. */
  readonly cardLastFour: string | null
  /** The PayPal account; null for a card. */
  readonly paypalEmail: string | null
  /** The last month in which the card works, such as `2027-04`; null or missing for what does not end. */
  readonly cardExpires?: string | null
}

/** Nothing to charge. */
export const NO_CARD: CardSummary = { cardBrand: null, cardLastFour: null, paypalEmail: null }

/** The last month in which a card works. */
export interface CardExpiry {
  /** 1 to 12. */
  readonly month: number
  /** With four digits. */
  readonly year: number
}

/** As it stands in the column `card_expires`. */
export function toExpiryText({ month, year }: CardExpiry): string {
  return `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}`
}

/** Whether it has stopped working at that moment: from the first of the next month on, in UTC. */
export function isExpiredAt({ month, year }: CardExpiry, at: Date): boolean {
  return at.getTime() >= Date.UTC(year, month)
}

/** What the provider's form in the browser may do. */
export interface NewClientToken {
  /** Whose form it is; null for somebody who is no customer yet. */
  readonly customerId: string | null
  /** Whether the card becomes the one that is billed. */
  readonly makeDefault: boolean
  /** Whether the card is tried before it is kept. */
  readonly verifyCard: boolean
}

/** Tokens with which the provider's form in the browser shows up. */
export interface ClientTokens {
  /** Another one each time. */
  create(token: NewClientToken): Promise<string>
}

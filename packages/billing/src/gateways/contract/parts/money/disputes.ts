import type { Money } from '../../../../values/money.ts'

/** A charge that somebody has asked back from their bank, in our words. */
export interface ProviderDispute {
  /** The provider's id. */
  readonly id: string
  /** Whose charge it was; null where the provider does not say. */
  readonly customerId: string | null
  /** The provider's id of the subscription that was paid for; null for a single charge. */
  readonly subscriptionId: string | null
  /** The provider's id of the charge. */
  readonly charge: string
  /** How much is asked back. */
  readonly amount: Money
  /** In the provider's words; null where there is none. */
  readonly reason: string | null
  /** `inquiry`: the bank only asks, and no money is taken. `open` is not decided; `won` by us, or `lost`. */
  readonly status: 'inquiry' | 'open' | 'won' | 'lost'
  /** When it began. */
  readonly openedAt: Date
  /** The provider's own object. */
  readonly raw: unknown
}

/** Charges that were asked back. */
export interface Disputes {
  /** Null when there is none. */
  find(id: string): Promise<ProviderDispute | null>
  /** All of a customer's, decided or not. */
  list(customerId: string): Promise<ProviderDispute[]>
}

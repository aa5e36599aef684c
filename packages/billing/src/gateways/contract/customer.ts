import type { CardSummary } from '../../values/card.ts'
import type { Owner } from '../../values/owner.ts'

/** A provider's customer in our words. */
export interface ProviderCustomer {
  /** The provider's id. */
  readonly id: string
  /** What would be charged. */
  readonly card: CardSummary
  /** Something to charge. */
  readonly hasPaymentMethod: boolean
  /** The language they want to be written to in, such as `de`; null or missing where nobody said. */
  readonly locale?: string | null
  /** The provider's own object. */
  readonly raw: unknown
}

/** What a customer is created with. Other keys go to the provider as they are. */
export interface CustomerDetails {
  /** Where the provider sends receipts, if it does. */
  readonly email?: string
  /** Stands on invoices. */
  readonly name?: string
  /** For the provider's own use. */
  readonly phone?: string
  readonly [detail: string]: unknown
}

/** What a customer is made of at a provider. */
export interface NewCustomer {
  /** Whose it is; written at the provider as well, so one can be found by the other. */
  readonly owner: Owner
  /** What is known of them. */
  readonly details: CustomerDetails
  /** The operation it belongs to: a repeat finds the same customer by it. */
  readonly operation: string
}

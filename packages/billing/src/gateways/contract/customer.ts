import type { CardSummary } from '../../values/card.ts'

export interface ProviderCustomer {
  readonly id: string
  readonly card: CardSummary
  /** Something to charge. */
  readonly hasPaymentMethod: boolean
  readonly raw: unknown
}

/** What a customer is created with. Other keys go to the provider as they are. */
export interface CustomerDetails {
  readonly email?: string
  readonly name?: string
  readonly phone?: string
  readonly [detail: string]: unknown
}

export interface NewCustomer {
  readonly userId: string | number
  readonly details: CustomerDetails
  readonly operation: string
}

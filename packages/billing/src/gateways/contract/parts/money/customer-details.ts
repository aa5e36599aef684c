import type { CustomerDetails } from '../../customer.ts'

/** Where somebody lives. */
export interface Address {
  /** Street and number. */
  readonly line1?: string
  /** What else it takes to find the door. */
  readonly line2?: string
  /** The town. */
  readonly city?: string
  /** State, county or province. */
  readonly state?: string
  /** ZIP code. */
  readonly postalCode?: string
  /** Two capital letters. */
  readonly country?: string
}

/** What is to be known of a customer from now on. What is left out stays. */
export interface ChangedDetails extends CustomerDetails {
  /** Stands on invoices, and decides the tax. It counts as a whole: without any part there is none. */
  readonly address?: Address
  /** In which language the provider writes, such as `de`; for a gateway with the part `languages`. */
  readonly locale?: string
}

/** Customers who can be changed after they were made. */
export interface CustomerUpdates {
  /** A repeat sets the same again. */
  set(customerId: string, details: ChangedDetails): Promise<void>
}

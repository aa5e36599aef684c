import type { CardSummary } from '../core/values/card.ts'
import type { Owner } from '../core/values/owner.ts'
import type { PassThroughOptions } from './sdk-types.ts'

/** A provider's customer in a common format. */
export interface ProviderCustomer {
  /** The customer's id at the provider. */
  readonly id: string
  /** The default payment method. */
  readonly card: CardSummary
  /** Whether there is a payment method to charge. */
  readonly hasPaymentMethod: boolean
  /** Language for mail and invoices, such as `de`. `null` or missing if it is unknown. */
  readonly locale?: string | null
  /** Address on invoices. `null` or missing if there is none. */
  readonly address?: Address | null
  /** The provider's own object. */
  readonly raw: unknown
}

/** A postal address. */
export interface Address {
  /** Street and number. */
  readonly line1?: string
  /** Further lines, such as an apartment or company. */
  readonly line2?: string
  /** City of the address. */
  readonly city?: string
  /** State, county or province. */
  readonly state?: string
  /** Postal (ZIP) code. */
  readonly postalCode?: string
  /** ISO 3166 country code, two capital letters. */
  readonly country?: string
}

/** Returns the parts of an address that have a value. `null` if none has. */
export function toAddressParts(
  parts: {
    readonly [Part in keyof Address]?: string | null | undefined
  },
): Address | null {
  const present = Object.entries(parts).filter(([, value]) => value)
  return present.length === 0 ? null : Object.fromEntries(present)
}

/** Details of a customer. Other keys are passed on to the provider, with the types of its SDK. */
export type CustomerDetails = {
  /** E-mail address, to which the provider may send receipts. */
  readonly email?: string
  /** Name on invoices. */
  readonly name?: string
  /** Telephone number, used only by the provider. */
  readonly phone?: string
  /**
   * Address on invoices, which also determines the tax. Replaced as a whole: parts that are left
   * out are removed.
   */
  readonly address?: Address
  /**
   * Language in which the provider writes to the customer, such as `de`. Requires the capability
   * `languages`.
   */
  readonly locale?: string
} & PassThroughOptions<'customer'>

/** A customer to create at a provider. */
export interface NewCustomer {
  /** The owner, also stored at the provider, so that the owner can be found from the customer. */
  readonly owner: Owner
  /** Initial details of the customer. */
  readonly details: CustomerDetails
  /** Id of the operation. A retry with the same id finds the same customer. */
  readonly operation: string
}

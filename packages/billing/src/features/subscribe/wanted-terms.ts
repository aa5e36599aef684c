import type { ProviderName } from '../../core/values/provider-name.ts'
import type { TaxSource } from '../../options.ts'
import type { CustomerDetails } from '../../providers/customer.ts'
import type { WantedItem } from '../../providers/item.ts'
import type { StartTerms } from '../../providers/subscription.ts'
import type { Metadata } from '../metadata/contract.ts'

export interface WantedSubscription extends StartTerms {
  readonly provider: ProviderName
  readonly name: string
  readonly plan: string
  readonly quantity: number
  /** The provider's id of a coupon or of a promotion code. */
  readonly coupon: string | null
  /** Promotion code as it was typed; its id is in `coupon`. */
  readonly code?: string
  readonly trialDays: number | null
  /** Alternative to `trialDays`: the exact end of the trial. */
  readonly trialEndsAt?: Date
  /** Additional prices. */
  readonly items?: readonly WantedItem[]
  /** Whether the subscription may start without a card. */
  readonly withoutCard?: boolean
  /** Whether the main price is billed by usage. */
  readonly isMetered?: boolean
  /** The application's own data. Not compared with the terms in force. */
  readonly metadata?: Metadata
}

/** Tax that was chosen for one subscription. `null` follows the option `tax`. */
export type ChosenTax = TaxSource | null

export interface Payer {
  readonly token: string | null
  readonly details: CustomerDetails
}

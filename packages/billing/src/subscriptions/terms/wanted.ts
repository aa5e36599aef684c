import type { CustomerDetails } from '../../gateways/contract/customer.ts'
import type { WantedItem } from '../../gateways/contract/item.ts'
import type { StartTerms } from '../../gateways/contract/subscription.ts'
import type { TaxSource } from '../../options.ts'
import type { ProviderName } from '../../provider-name.ts'

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
  /** Prices beside the plan. */
  readonly items?: readonly WantedItem[]
  /** Whether it may begin without a card. */
  readonly withoutCard?: boolean
  /** Whether usage of the plan itself is counted. */
  readonly isMetered?: boolean
}

/** Tax that was chosen for one subscription. `null` follows the options. */
export type ChosenTax = TaxSource | null

export interface Payer {
  readonly token: string | null
  readonly details: CustomerDetails
}

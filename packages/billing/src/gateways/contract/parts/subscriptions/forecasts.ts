import type { BasisPoints } from '../../../../values/tax.ts'
import type { NewSubscription } from '../../subscription.ts'
import type { FirstInvoices, UpcomingInvoice } from '../../upcoming-invoice.ts'
import type { ChangedDetails } from '../money/customer-details.ts'

/** A subscription that somebody thinks about. */
export interface PossibleSubscription
  extends Omit<NewSubscription, 'operation' | 'name' | 'customerId'> {
  /** Null for somebody who is no customer yet. */
  readonly customerId: string | null
  /** What is known of somebody who is no customer yet. */
  readonly details: ChangedDetails
}

/** Bills that are still to come. Nothing is made for them. */
export interface Forecasts {
  /** The next bill as things stand; null when none comes. The tax is within it, where the provider does not know it. */
  upcoming(id: string, tax: BasisPoints): Promise<UpcomingInvoice | null>
  /** What `createSubscription` would cost, now and when the trial or the first period is over. */
  ofNew(subscription: PossibleSubscription, now: Date): Promise<FirstInvoices>
}

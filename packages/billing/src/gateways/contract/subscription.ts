import type { ProviderName } from '../../provider-name.ts'
import type { Money } from '../../values/money.ts'
import type { BasisPoints } from '../../values/tax.ts'

/** A provider's subscription in our words; both gateways give the same. */
export interface ProviderSubscription {
  readonly id: string
  /** Null where the provider's object does not say; then ask `findOwner`. */
  readonly customerId: string | null
  readonly plan: string
  readonly status: string
  /** The provider will do nothing more with it, though access may go on until `endsAt`. */
  readonly isOver: boolean
  readonly quantity: number
  readonly trialEndsAt: Date | null
  /** When access ends or ended; null while it goes on. */
  readonly endsAt: Date | null
  /** When the running period or trial is over, and the next bill is due. */
  readonly periodEndsAt: Date | null
  /** When `cancelAtPeriodEnd` would end it: what is paid for, with credit; null for at once. */
  readonly paidUntil: Date | null
  readonly createdAt: Date
  /** The name it was created under, where the provider keeps it. */
  readonly name: string | null
  /** Of a name that it has no room for. */
  readonly nameDigest: string | null
  /** The operation that made it. */
  readonly operation: string | null
  /** The price with the tax inside, where the provider knows no tax; null where it does. */
  readonly taxedPrice: number | null
  readonly lastChargeAt: Date | null
  /** Why it is over; null while it goes on, and where the provider does not say. */
  readonly endReason: EndReason | null
  readonly raw: unknown
}

/** What is taken off the bills of a subscription now. */
export interface ActiveDiscount {
  /** The coupon's id at Stripe, the discount's at Braintree. */
  readonly coupon: string
  /** What the provider calls it. */
  readonly name: string
  /** Either a percentage or an amount; the other one is null. */
  readonly percentOff: number | null
  readonly amountOff: Money | null
  /** After this moment it counts no more (Stripe). Null: without an end, or counted in bills. */
  readonly endsAt: Date | null
  /** How many more bills it counts for (Braintree). Null: without an end, or until a moment. */
  readonly billsLeft: number | null
}

/** Why a subscription is over. `cancelled` is by whoever asked for it, the others are the provider's. */
export type EndReason = 'cancelled' | 'payment_failed' | 'payment_disputed'

/** What a first payment is for, and who pays it. */
export interface FirstPayment {
  readonly provider: ProviderName
  readonly customerId: string
  readonly plan: string
  readonly quantity: number
  readonly coupon: string | null
}

export interface NewSubscription extends Omit<FirstPayment, 'provider'> {
  readonly name: string
  readonly trialDays: number | null
  readonly tax: BasisPoints
  readonly operation: string
}

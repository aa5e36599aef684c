import type { ProviderName } from '../provider-name.ts'
import type { Money } from '../values/money.ts'
import type { Owner } from '../values/owner.ts'

/** A subscription as our row has it. */
export interface SubscriptionFacts {
  /** The provider's id. */
  readonly id: string
  /** Such as `main`. */
  readonly name: string
  /** The main price. */
  readonly plan: string
  /** How many of it; null where the provider counts none. */
  readonly quantity: number | null
  /** The provider's word. */
  readonly status: string
  /** An ISO text; null for no trial. */
  readonly trialEndsAt: string | null
  /** An ISO text; null while it goes on. */
  readonly endsAt: string | null
}

/** An invoice, as it is told of. */
export interface InvoiceFacts {
  /** The provider's id. */
  readonly id: string
  /** The number printed on it. */
  readonly number: string
  /** An ISO text. */
  readonly date: string
  /** With taxes. */
  readonly total: Money
  /** What is left after the customer's balance was used: what the card pays. */
  readonly amountDue: Money
}

/**
 * Every type of event, and what it says. Only what JSON can hold: dates are ISO texts, and a listener gets the same as
 * a webhook of ours carries.
 */
export interface BillingEvents {
  /** There is a row for it. The first payment may be missing: `status` says so. */
  readonly 'subscription.created': { readonly subscription: SubscriptionFacts }
  /** Its row changed: plan, quantity, status, trial or end. */
  readonly 'subscription.changed': {
    readonly subscription: SubscriptionFacts
    readonly before: SubscriptionFacts
  }
  /** Access is over, for whatever reason. Told once. */
  readonly 'subscription.ended': { readonly subscription: SubscriptionFacts }
  /** It was paid; at Braintree the charge went through, and its money is on its way. */
  readonly 'invoice.paid': { readonly invoice: InvoiceFacts }
  /** An attempt to charge it failed. */
  readonly 'invoice.payment_failed': {
    readonly invoice: InvoiceFacts
    /** The how manieth attempt it was; null where the provider does not count. */
    readonly attempt: number | null
    /** When the provider tries again, as an ISO text; null where it does not, or does not say. */
    readonly nextAttemptAt: string | null
  }
  /** The customer has to confirm the payment at their bank. */
  readonly 'invoice.action_required': {
    readonly invoice: InvoiceFacts
    /** A page of the provider's where that can be done; null for none. */
    readonly url: string | null
  }
  /** Nobody has to pay it any more. */
  readonly 'invoice.voided': { readonly invoice: InvoiceFacts }
  /** Money goes back. */
  readonly 'refund.created': {
    readonly refund: {
      readonly id: string
      readonly charge: string
      readonly amount: Money
      readonly reason: string | null
    }
  }
  /** An invoice was taken back, or a part of it. */
  readonly 'credit_note.created': {
    readonly creditNote: {
      readonly id: string
      readonly number: string
      readonly invoice: string
      readonly total: Money
    }
  }
  /** A trial ends within three days: that of a subscription, or the owner's own, which has none. */
  readonly 'trial.ending': {
    readonly subscription: SubscriptionFacts | null
    readonly endsAt: string
  }
  /** The card that is billed expires with this month. */
  readonly 'card.expiring': {
    readonly brand: string | null
    readonly lastFour: string | null
    /** Such as `2027-04`. */
    readonly expires: string
  }
}

/** The type of an event. */
export type BillingEventType = keyof BillingEvents

/** Something that happened. */
export interface BillingEvent<Type extends BillingEventType = BillingEventType> {
  /** The same for whoever is told, however often. */
  readonly id: string
  /** Such as `subscription.ended`. */
  readonly type: Type
  /** When it was written down. */
  readonly createdAt: Date
  /** Whom it concerns. */
  readonly owner: Owner
  /** Where it happened. */
  readonly provider: ProviderName
  /** What it says. */
  readonly data: BillingEvents[Type]
}

/** Any event, told apart by its type. */
export type AnyBillingEvent = { [Type in BillingEventType]: BillingEvent<Type> }[BillingEventType]

/** An event to be written down. */
export type NewBillingEvent = {
  [Type in BillingEventType]: Pick<BillingEvent<Type>, 'type' | 'owner' | 'provider' | 'data'> & {
    /** What it is about, with the provider's name: of each type there is one event with this subject. */
    readonly subject: string
  }
}[BillingEventType]

/**
 * Functions of the application, by the type of event. Each is called at least once for an event, with the same
 * `event.id`, and again later when it throws.
 * @example
 * const on: EventListeners = { 'subscription.ended': ({ owner }) => closeAccount(owner.id) }
 */
export type EventListeners = {
  readonly [Type in BillingEventType]?: (event: BillingEvent<Type>) => unknown
}

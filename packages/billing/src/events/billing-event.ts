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
  /** Since when nobody pays for it, as an ISO text; null while it is not paused. */
  readonly pausedAt: string | null
  /** What it is to change to, and when, as an ISO text; null where no swap is planned. */
  readonly planned: { readonly plan: string; readonly at: string } | null
}

/** An invoice, as it is told of. */
export interface InvoiceFacts {
  /** The provider's id. */
  readonly id: string
  /** The number printed on it; null where there is none, as of usage that was not paid. */
  readonly number: string | null
  /** An ISO text. */
  readonly date: string
  /** With taxes. */
  readonly total: Money
  /** What is left after the customer's balance was used: what the card pays. */
  readonly amountDue: Money
}

/** What was used, as it was reported. */
export interface UsageFacts {
  /** What the application calls the report. */
  readonly id: string
  /** What is counted. */
  readonly meter: string
  /** A decimal number, as text. */
  readonly value: string
  /** When it was used, as an ISO text. */
  readonly at: string
}

/** A charge that somebody has asked back from their bank, as it is told of. */
export interface DisputeFacts {
  /** The provider's id. */
  readonly id: string
  /** The provider's id of the charge. */
  readonly charge: string
  /** The provider's id of the subscription that was paid for; null for a single charge. */
  readonly subscription: string | null
  /** How much is asked back. */
  readonly amount: Money
  /** In the provider's words; null where there is none. */
  readonly reason: string | null
  /** `inquiry`: the bank only asks, and no money is taken. `open` is not decided; `won` by us, or `lost`. */
  readonly status: 'inquiry' | 'open' | 'won' | 'lost'
  /** When it began, as an ISO text. */
  readonly openedAt: string
}

/** A customer at the provider, as our row has it. */
export interface CustomerFacts {
  /** The provider's id. */
  readonly id: string
  /** Such as `visa`; null without a card. */
  readonly cardBrand: string | null
  /** The card's last four digits; null without one. */
  readonly cardLastFour: string | null
  /** Such as `2027-04`; null for what does not end. */
  readonly cardExpires: string | null
  /** The PayPal account that pays; null where a card does. */
  readonly paypalEmail: string | null
}

/** A hosted page that was completed. */
export interface CheckoutFacts {
  /** The provider's id. */
  readonly id: string
  /** What came of it. */
  readonly mode: 'subscription' | 'payment' | 'setup'
  /** Whether the money is there; false while it is on its way. */
  readonly isPaid: boolean
  /** The provider's id of what was paid once, for `refund()`; null for nothing, and for a subscription. */
  readonly payment: string | null
  /** The provider's id of the invoice; null for none. */
  readonly invoice: string | null
}

/**
 * Every type of event, and what it says. Only what JSON can hold: dates are ISO texts, and a listener gets the same as
 * a webhook of ours carries.
 */
export interface BillingEvents {
  /** There is a row for it. The first payment may be missing: `status` says so. */
  readonly 'subscription.created': { readonly subscription: SubscriptionFacts }
  /** Its row changed: plan, quantity, status, trial, end, a pause or what is planned. */
  readonly 'subscription.changed': {
    readonly subscription: SubscriptionFacts
    readonly before: SubscriptionFacts
  }
  /** From now on nobody is asked to pay for it. */
  readonly 'subscription.paused': { readonly subscription: SubscriptionFacts }
  /** A pause is over: the next bill is to be paid again. */
  readonly 'subscription.resumed': { readonly subscription: SubscriptionFacts }
  /** Access is over, for whatever reason. Told once. */
  readonly 'subscription.ended': { readonly subscription: SubscriptionFacts }
  /** It was paid; at Braintree the charge went through, and its money is on its way. */
  readonly 'invoice.paid': { readonly invoice: InvoiceFacts }
  /** An attempt to charge it failed. */
  readonly 'invoice.payment_failed': {
    readonly invoice: InvoiceFacts
    /** Which attempt it was, counted from 1; null where the provider does not count. */
    readonly attempt: number | null
    /** When it is tried again, as an ISO text; null where it is not, or the provider does not say. */
    readonly nextAttemptAt: string | null
    /** The bank asks the customer about it: `invoice.action_required` is told too, and mail of that alone is sent. */
    readonly awaitsCustomer: boolean
  }
  /** The customer has to confirm the payment at their bank. Told for each attempt that asks. */
  readonly 'invoice.action_required': {
    readonly invoice: InvoiceFacts
    /** Which attempt it was, counted from 1; null where the provider does not count. */
    readonly attempt: number | null
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
  /** The customer has done what a hosted page was for. */
  readonly 'checkout.completed': {
    readonly checkout: CheckoutFacts
    /** What it made; null for none. */
    readonly subscription: SubscriptionFacts | null
  }
  /** What was to be paid once on a hosted page is there: at once by card, days later by bank debit. Told once. */
  readonly 'checkout.paid': { readonly checkout: CheckoutFacts }
  /** What a hosted page was completed for never came: the bank has sent the debit back. Told once. */
  readonly 'checkout.payment_failed': { readonly checkout: CheckoutFacts }
  /** What a hosted page made is there twice under its name: the customer pays for both. Nothing was ended. */
  readonly 'checkout.duplicate': {
    readonly checkout: CheckoutFacts
    readonly subscription: SubscriptionFacts
    /** The one that was there before. */
    readonly other: SubscriptionFacts
  }
  /** A bank asks a charge back, or (`inquiry`) asks about it. */
  readonly 'dispute.opened': { readonly dispute: DisputeFacts }
  /** It is decided: `won` or `lost`. */
  readonly 'dispute.closed': { readonly dispute: DisputeFacts }
  /** What our row says of the customer changed: who it is at the provider, or the card that is billed. */
  readonly 'customer.updated': {
    /** Null where there is none any more. */
    readonly customer: CustomerFacts | null
    /** Null where there was none. */
    readonly before: CustomerFacts | null
  }
  /**
   * The customer was given to another owner, with its subscriptions and invoices. Told twice: to the owner who gave it, and to
   * the one who has it now.
   */
  readonly 'customer.transferred': {
    readonly customer: CustomerFacts
    /** The owner who had it. */
    readonly from: Owner
    /** The owner who has it now. */
    readonly to: Owner
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
  /** What was reported as used is not billed, because the provider does not take it. */
  readonly 'usage.refused': {
    readonly usage: UsageFacts
    /** What the provider said. */
    readonly reason: string
  }
}

/** The type of an event. */
export type BillingEventType = keyof BillingEvents

const TYPES: Readonly<Record<BillingEventType, true>> = {
  'subscription.created': true,
  'subscription.changed': true,
  'subscription.ended': true,
  'subscription.paused': true,
  'subscription.resumed': true,
  'invoice.paid': true,
  'invoice.payment_failed': true,
  'invoice.action_required': true,
  'invoice.voided': true,
  'refund.created': true,
  'credit_note.created': true,
  'checkout.completed': true,
  'checkout.paid': true,
  'checkout.payment_failed': true,
  'checkout.duplicate': true,
  'dispute.opened': true,
  'dispute.closed': true,
  'customer.updated': true,
  'customer.transferred': true,
  'trial.ending': true,
  'card.expiring': true,
  'usage.refused': true,
}

/** All of them. */
export const billingEventTypes = Object.keys(TYPES) as readonly BillingEventType[]

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

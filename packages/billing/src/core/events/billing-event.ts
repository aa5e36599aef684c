import type { Money } from '../values/money.ts'
import type { Owner } from '../values/owner.ts'
import type { ProviderName } from '../values/provider-name.ts'

/** Data of a subscription in an event, as stored in our database row. */
export interface SubscriptionEventData {
  /** The subscription's id at the provider. */
  readonly id: string
  /** The application's name for the subscription, such as `main`. */
  readonly name: string
  /** Id of the main price. */
  readonly price: string
  /** Number of units of the main price. `null` if the provider has no quantities. */
  readonly quantity: number | null
  /** The provider's own status. */
  readonly status: string
  /** End of the trial, as ISO 8601. `null` if there is no trial. */
  readonly trialEndsAt: string | null
  /** When access ends, or ended, as ISO 8601. `null` while the subscription renews. */
  readonly endsAt: string | null
  /** When the subscription was paused, as ISO 8601. `null` if it is not paused. */
  readonly pausedAt: string | null
  /**
   * The planned swap: its main price, and when it takes effect (ISO 8601). `null` if no swap is
   * planned.
   */
  readonly planned: { readonly price: string; readonly at: string } | null
}

/** Data of an invoice in an event. */
export interface InvoiceEventData {
  /** The invoice's id at the provider. */
  readonly id: string
  /**
   * The number printed on the invoice. `null` if it has none, such as for usage that was not paid.
   */
  readonly number: string | null
  /** Date of the invoice, as ISO 8601. */
  readonly date: string
  /** Total including taxes. */
  readonly total: Money
  /** Amount to charge after the customer's balance was applied. */
  readonly amountDue: Money
}

/** Data of a usage report in an event. */
export interface UsageEventData {
  /** Id of the usage report, as chosen by the application. */
  readonly id: string
  /** Name of the meter. */
  readonly meter: string
  /** The reported value, a decimal number as text. */
  readonly value: string
  /** When the usage occurred, as ISO 8601. */
  readonly at: string
}

/** Data of a dispute (chargeback) in an event. */
export interface DisputeEventData {
  /** The dispute's id at the provider. */
  readonly id: string
  /** The provider's id of the disputed charge. */
  readonly charge: string
  /** The provider's id of the subscription that the charge paid for. `null` for a single charge. */
  readonly subscription: string | null
  /** The disputed amount. */
  readonly amount: Money
  /** Reason for the dispute, in the provider's words. `null` if the provider gives no reason. */
  readonly reason: string | null
  /**
   * `inquiry`: the bank only asks, and no money was withdrawn. `open`: not decided yet. `won`:
   * decided for the merchant. `lost`: decided against the merchant.
   */
  readonly status: 'inquiry' | 'open' | 'won' | 'lost'
  /** When the dispute was opened, as ISO 8601. */
  readonly openedAt: string
}

/** Data of a customer in an event, as stored in our database row. */
export interface CustomerEventData {
  /** The customer's id at the provider. */
  readonly id: string
  /** Brand of the default card, such as `visa`. `null` without a card. */
  readonly cardBrand: string | null
  /** Last four digits of the default card. `null` without a card. */
  readonly cardLastFour: string | null
  /**
   * Last month in which the default card is valid, such as `2027-04`. `null` if it does not expire.
   */
  readonly cardExpires: string | null
  /** E-mail address of the PayPal account that is charged. `null` if the customer pays by card. */
  readonly paypalEmail: string | null
}

/** Data of a completed hosted page in an event. */
export interface CheckoutEventData {
  /** The hosted page's id at the provider. */
  readonly id: string
  /** The purpose of the hosted page: a subscription, a one-time payment, or saving a card. */
  readonly mode: 'subscription' | 'payment' | 'setup'
  /**
   * Whether the payment has arrived. `false` while the payment, such as a bank debit, is still
   * being processed.
   */
  readonly isPaid: boolean
  /**
   * The provider's id of a one-time payment, for `refund()`. `null` for subscriptions, and if
   * nothing was paid.
   */
  readonly payment: string | null
  /** The provider's id of the invoice. `null` if there is none. */
  readonly invoice: string | null
}

/**
 * All event types with their data. The data is JSON: dates are ISO 8601 strings, and listeners
 * receive the same data as outgoing webhooks.
 */
export interface BillingEvents {
  /** A subscription was created. Its first payment may still be missing, see `status`. */
  readonly 'subscription.created': { readonly subscription: SubscriptionEventData }
  /** A subscription changed: its price, quantity, status, trial, end, pause or planned swap. */
  readonly 'subscription.changed': {
    readonly subscription: SubscriptionEventData
    readonly before: SubscriptionEventData
  }
  /** A subscription was paused: no payments are collected from now on. */
  readonly 'subscription.paused': { readonly subscription: SubscriptionEventData }
  /** A pause ended: the next invoice is collected again. */
  readonly 'subscription.resumed': { readonly subscription: SubscriptionEventData }
  /** Access ended, for any reason. Sent once per subscription. */
  readonly 'subscription.ended': { readonly subscription: SubscriptionEventData }
  /** An invoice was paid. At Braintree: the charge succeeded, and its money is not settled yet. */
  readonly 'invoice.paid': { readonly invoice: InvoiceEventData }
  /** An attempt to charge an invoice failed. */
  readonly 'invoice.payment_failed': {
    readonly invoice: InvoiceEventData
    /** Number of the attempt, counted from 1. `null` if the provider does not count them. */
    readonly attempt: number | null
    /** When the provider retries, as ISO 8601. `null` if it does not retry, or does not say. */
    readonly nextAttemptAt: string | null
    /**
     * Whether the bank asks the customer to confirm the payment. If so, `invoice.action_required`
     * is sent as well, and mail is only sent about that event.
     */
    readonly awaitsCustomer: boolean
  }
  /**
   * The customer has to confirm a payment with their bank. Sent for each attempt that requires it.
   */
  readonly 'invoice.action_required': {
    readonly invoice: InvoiceEventData
    /** Number of the attempt, counted from 1. `null` if the provider does not count them. */
    readonly attempt: number | null
    /** The provider's page on which the customer can confirm. `null` if there is none. */
    readonly url: string | null
  }
  /** An invoice was voided: it no longer has to be paid. */
  readonly 'invoice.voided': { readonly invoice: InvoiceEventData }
  /** A refund was made. */
  readonly 'refund.created': {
    readonly refund: {
      readonly id: string
      readonly charge: string
      readonly amount: Money
      readonly reason: string | null
    }
  }
  /** A credit note was issued for an invoice, or a part of it. */
  readonly 'credit_note.created': {
    readonly creditNote: {
      readonly id: string
      readonly number: string
      readonly invoice: string
      readonly total: Money
    }
  }
  /** The customer completed a hosted page. */
  readonly 'checkout.completed': {
    readonly checkout: CheckoutEventData
    /** The subscription that the page created. `null` if it created none. */
    readonly subscription: SubscriptionEventData | null
  }
  /**
   * The one-time payment of a hosted page arrived: immediately by card, days later by bank debit.
   * Sent once.
   */
  readonly 'checkout.paid': { readonly checkout: CheckoutEventData }
  /** The payment of a completed hosted page failed: the bank returned the debit. Sent once. */
  readonly 'checkout.payment_failed': { readonly checkout: CheckoutEventData }
  /**
   * A hosted page created a second subscription with the same name, so the customer pays for both.
   * Neither was ended.
   */
  readonly 'checkout.duplicate': {
    readonly checkout: CheckoutEventData
    readonly subscription: SubscriptionEventData
    /** The other subscription with the same name, which existed before. */
    readonly other: SubscriptionEventData
  }
  /**
   * A charge was disputed by the customer's bank, or the bank asked for information about a charge
   * (status `inquiry`).
   */
  readonly 'dispute.opened': { readonly dispute: DisputeEventData }
  /** A dispute was decided: `won` or `lost`. */
  readonly 'dispute.closed': { readonly dispute: DisputeEventData }
  /** Our row of the customer changed: its id at the provider, or its default payment method. */
  readonly 'customer.updated': {
    /** The customer after the change. `null` if the owner has no customer any more. */
    readonly customer: CustomerEventData | null
    /** The customer before the change. `null` if the owner had no customer. */
    readonly before: CustomerEventData | null
  }
  /**
   * The customer was transferred to another owner, with its subscriptions and invoices. Sent twice:
   * for the previous owner and for the new one.
   */
  readonly 'customer.transferred': {
    readonly customer: CustomerEventData
    /** The previous owner. */
    readonly from: Owner
    /** The new owner. */
    readonly to: Owner
  }
  /** A trial ends within three days: the trial of a subscription, or the owner's generic trial. */
  readonly 'trial.ending': {
    readonly subscription: SubscriptionEventData | null
    readonly endsAt: string
  }
  /** The default card of an owner with a running subscription expires at the end of this month. */
  readonly 'card.expiring': {
    readonly brand: string | null
    readonly lastFour: string | null
    /** The last month in which the card is valid, such as `2027-04`. */
    readonly expires: string
  }
  /** The provider refused reported usage, so it is not billed. */
  readonly 'usage.refused': {
    readonly usage: UsageEventData
    /** The provider's reason for refusing the usage. */
    readonly reason: string
  }
}

/** Name of an event type. */
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

/** The names of all billing event types. */
export const billingEventTypes = Object.keys(TYPES) as readonly BillingEventType[]

/** An event of billing, as passed to listeners and sent in outgoing webhooks. */
export interface BillingEvent<Type extends BillingEventType = BillingEventType> {
  /**
   * Id of the event, identical for every listener and every attempt. Use it to detect duplicates.
   */
  readonly id: string
  /** The event type, such as `subscription.ended`. */
  readonly type: Type
  /** When the event was recorded. */
  readonly createdAt: Date
  /** The owner that the event concerns. */
  readonly owner: Owner
  /** The provider at which the event happened. */
  readonly provider: ProviderName
  /** The event's data, which depends on its type. */
  readonly data: BillingEvents[Type]
}

/** An event of any type. Check `type` to narrow it to one type. */
export type AnyBillingEvent = { [Type in BillingEventType]: BillingEvent<Type> }[BillingEventType]

/** An event to be recorded in the outbox. */
export type NewBillingEvent = {
  [Type in BillingEventType]: Pick<BillingEvent<Type>, 'type' | 'owner' | 'provider' | 'data'> & {
    /**
     * The object that the event is about, prefixed with the provider. Type and subject together
     * identify an event, so a repeat is not recorded again.
     */
    readonly subject: string
  }
}[BillingEventType]

/**
 * Functions of the application that receive events, by event type. Each is called at least once per
 * event, always with the same `event.id`, and is called again later if it throws.
 * @example
 * const on: EventListeners = { 'subscription.ended': ({ owner }) => closeAccount(owner.id) }
 */
export type EventListeners = {
  readonly [Type in BillingEventType]?: (event: BillingEvent<Type>) => unknown
}

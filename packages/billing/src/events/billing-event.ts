import type { ProviderName } from '../provider-name.ts'
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

import type { BillingContext } from './core/context.ts'
import type { BilledOwner, SubscriptionRecord } from './core/storage/tables.ts'
import { listSubscriptionItems, type SubscriptionItem } from './core/subscription-items.ts'
import { SubscriptionScope, type SwapSettings } from './core/subscription-scope.ts'
import { isUser, type Owner } from './core/values/owner.ts'
import type { ProviderName } from './core/values/provider-name.ts'
import * as state from './core/values/subscription-state.ts'
import type { Capability } from './providers/gateway-parts.ts'

/**
 * Returns the internal scope of a subscription (its row, its owner and its provider), for features
 * that add methods to `Subscription`.
 */
export let getSubscriptionScope: (subscription: Subscription) => SubscriptionScope

/** A billing period or trial of a subscription. */
export interface SubscriptionPeriod {
  /** First moment of the period. */
  readonly startsAt: Date
  /** First moment after the period. */
  readonly endsAt: Date
}

/**
 * A subscription: its stored state, and the methods that change it. State is read from our row,
 * without a request to the provider. Methods that change the subscription read the row again
 * afterwards.
 *
 * Each feature declares its methods in its own `feature.ts`; `features/all.ts` lists the features.
 */
export class Subscription {
  readonly #scope: SubscriptionScope

  static {
    getSubscriptionScope = (subscription) => subscription.#scope
  }

  constructor(
    context: BillingContext,
    user: BilledOwner,
    record: SubscriptionRecord,
    settings: SwapSettings = { skipTrial: false, prorate: true },
  ) {
    this.#scope = new SubscriptionScope(context, user, record, settings)
  }

  /** Primary key in the `subscriptions` table. */
  get id(): number {
    return this.#scope.record.id
  }

  /** The user or team that owns the subscription. */
  get owner(): Owner {
    return this.#scope.record.owner
  }

  /** Id of the user that owns the subscription. `null` if the owner is not a user. */
  get userId(): string | number | null {
    return isUser(this.owner) ? this.owner.id : null
  }

  /** The application's name for the subscription, such as `main`. */
  get name(): string {
    return this.#scope.record.name
  }

  /** The provider that bills the subscription. */
  get provider(): ProviderName {
    return this.#scope.record.provider
  }

  /** The subscription's id at the provider. */
  get providerId(): string {
    return this.#scope.record.providerId
  }

  /** The provider's id of the main price (at Braintree, of the plan). */
  get providerPlan(): string {
    return this.#scope.record.providerPlan
  }

  /** The provider's own status, such as `past_due` at Stripe or `Past Due` at Braintree. */
  get providerStatus(): string {
    return this.#scope.record.providerStatus
  }

  /** Number of units (seats) of the main price. */
  get quantity(): number {
    return this.#scope.record.quantity
  }

  /** When the trial ends, or ended. `null` if there was none. */
  get trialEndsAt(): Date | null {
    return this.#scope.record.trialEndsAt
  }

  /** When access ends, or ended. `null` while the subscription renews. */
  get endsAt(): Date | null {
    return this.#scope.record.endsAt
  }

  /**
   * When the oldest open dispute about a charge of the subscription was opened. `null` if no
   * dispute is open.
   */
  get disputedAt(): Date | null {
    return this.#scope.record.disputedAt
  }

  /**
   * When the subscription was paused, or when we first saw it paused if the provider does not say.
   * `null` if it is not paused.
   */
  get pausedAt(): Date | null {
    return this.#scope.record.pausedAt
  }

  /**
   * The main price from `plannedAt` on, as planned by `swapAtPeriodEnd()`. `null` if no swap is
   * planned.
   */
  get plannedPrice(): string | null {
    return this.#scope.record.plannedPrice
  }

  /** When the planned swap takes effect. `null` if no swap is planned. */
  get plannedAt(): Date | null {
    return this.#scope.record.plannedAt
  }

  /**
   * The current billing period or trial from our row, without a request to the provider. Shortly after
   * a renewal it is still the previous one. `null` if the provider has not named one yet.
   */
  get currentPeriod(): SubscriptionPeriod | null {
    const { periodStartsAt: startsAt, periodEndsAt: endsAt } = this.#scope.record
    return startsAt && endsAt ? { startsAt, endsAt } : null
  }

  /** When our database row of the subscription was created. */
  get createdAt(): Date {
    return this.#scope.record.createdAt
  }

  /** When our database row of the subscription was last changed. */
  get updatedAt(): Date {
    return this.#scope.record.updatedAt
  }

  /**
   * Whether the subscription's provider has this capability, such as `schedules` or `pauses`. If
   * not, methods that need it throw Unsupported. Makes no request. `false` if the provider is no
   * longer configured.
   */
  can(capability: Capability): boolean {
    return this.#scope.hasCapability(capability)
  }

  /**
   * Lists the prices of the subscription from our row, the main price first. Makes no request to
   * the provider.
   */
  items(): SubscriptionItem[] {
    return listSubscriptionItems(this.#scope.record)
  }

  /** Finds the subscription's item with this price, in our row. `null` if there is none. */
  findItem(price: string): SubscriptionItem | null {
    return this.items().find((item) => item.price === price) ?? null
  }

  /** Whether the subscription includes this price. */
  hasPrice(price: string): boolean {
    return this.findItem(price) !== null
  }

  /**
   * Whether the subscription is active, on trial or in the grace period. `user.subscribed()` checks
   * this.
   */
  valid(): boolean {
    return state.isSubscriptionValid(this.#scope.record, this.#scope.now())
  }

  /**
   * Whether the subscription grants access. True on trial and in the grace period too; false while
   * a payment is missing or it is suspended.
   */
  active(): boolean {
    return state.isSubscriptionActive(this.#scope.record, this.#scope.now())
  }

  /**
   * Whether the subscription is not paid for: the first payment is missing, or every attempt at a
   * later one failed.
   */
  incomplete(): boolean {
    return state.isSubscriptionIncomplete(this.#scope.record)
  }

  /**
   * Whether the first payment is missing and can still be made. Calling `create()` again with
   * another card or price replaces the subscription.
   */
  awaitsFirstPayment(): boolean {
    return state.awaitsFirstPayment(this.#scope.record) && !this.ended()
  }

  /**
   * Whether the subscription is paused, that is, not billed until `unpause()` or the end of the
   * pause. A paused subscription stays `active()` and `valid()` unless the option `pauses` is `{
   * access: 'suspend' }`.
   */
  paused(): boolean {
    return state.isSubscriptionPaused(this.#scope.record, this.#scope.now())
  }

  /**
   * Whether access is suspended because of an open dispute or a pause (see the `disputes` and
   * `pauses` options).
   */
  suspended(): boolean {
    return state.isAccessSuspended(this.#scope.record)
  }

  /**
   * Whether a renewal payment failed and the provider is still retrying it. Access continues
   * meanwhile.
   */
  pastDue(): boolean {
    return state.isPastDue(this.#scope.record) && !this.ended()
  }

  /** Whether the subscription is on trial now. */
  onTrial(): boolean {
    return state.isTrialRunning(this.#scope.record, this.#scope.now())
  }

  /** Whether the subscription was cancelled, even if access continues until `endsAt`. */
  cancelled(): boolean {
    return state.isSubscriptionCancelled(this.#scope.record)
  }

  /** Whether the subscription was cancelled and access continues until `endsAt`. */
  onGracePeriod(): boolean {
    return state.isOnGracePeriod(this.#scope.record, this.#scope.now())
  }

  /** Whether the subscription was cancelled and access has ended. */
  ended(): boolean {
    return state.hasSubscriptionEnded(this.#scope.record, this.#scope.now())
  }

  /** Whether the subscription renews: active, not on trial and not cancelled. */
  recurring(): boolean {
    return state.isSubscriptionRecurring(this.#scope.record, this.#scope.now())
  }

  /**
   * Makes the next `swap()` end the trial and charge immediately. Returns a new object; use it for
   * the swap.
   */
  skipTrial(): Subscription {
    return this.#with({ skipTrial: true })
  }

  /**
   * Makes the next `swap()` neither charge nor credit for the current period (no proration).
   * Returns a new object; use it for the swap.
   */
  noProrate(): Subscription {
    return this.#with({ prorate: false })
  }

  #with(settings: Partial<SwapSettings>): Subscription {
    const { context, user, record, settings: before } = this.#scope
    return new Subscription(context, user, record, { ...before, ...settings })
  }
}

/**
 * The meaning of a provider's subscription status.
 * - `open`: running, on trial or paid for.
 * - `awaits_first_payment`: created, but the first payment is missing and can still be made.
 * - `past_due`: a renewal payment failed, and the provider is retrying. Still grants access.
 * - `unpaid`: every attempt at a renewal payment failed.
 * - `begins_later`: grants no access until its first billing date.
 * - `closed`: grants no access, for any other reason.
 */
export type SubscriptionStanding =
  | 'open'
  | 'awaits_first_payment'
  | 'past_due'
  | 'unpaid'
  | 'begins_later'
  | 'closed'

/**
 * The meaning of a provider's subscription statuses, by status. A status that is missing here means
 * `open`.
 */
export type StandingsByStatus = Readonly<Record<string, SubscriptionStanding>>

/** The columns that a subscription's state is derived from. */
export interface SubscriptionColumns {
  readonly standing: SubscriptionStanding
  readonly trialEndsAt: Date | null
  readonly endsAt: Date | null
  /** Whether an open dispute or a pause suspends access, according to the options. */
  readonly isSuspended?: boolean
}

/**
 * Returns the meaning of a status. Unknown statuses mean `open`: paying customers must not be
 * locked out by a new status.
 */
export function lookUpStanding(statuses: StandingsByStatus, status: string): SubscriptionStanding {
  return Object.hasOwn(statuses, status) ? (statuses[status] ?? 'open') : 'open'
}

/**
 * Whether this meaning of a status grants access. `past_due` does, while the provider is retrying
 * the payment.
 */
export function doesStandingGrantAccess(standing: SubscriptionStanding): boolean {
  return standing === 'open' || standing === 'past_due'
}

export function isSubscriptionIncomplete({ standing }: SubscriptionColumns): boolean {
  return !doesStandingGrantAccess(standing)
}

/**
 * Whether the first payment is missing and can still be made. Another card or plan may replace it.
 */
export function awaitsFirstPayment({ standing }: Pick<SubscriptionColumns, 'standing'>): boolean {
  return standing === 'awaits_first_payment'
}

/** Whether a renewal payment failed and the provider is retrying. Access continues. */
export function isPastDue({ standing }: SubscriptionColumns): boolean {
  return standing === 'past_due'
}

/** Whether the subscription was cancelled, even if access continues until its end. */
export function isSubscriptionCancelled({ endsAt }: SubscriptionColumns): boolean {
  return endsAt !== null
}

/** Whether the subscription was cancelled and `ends_at` is in the future. */
export function isOnGracePeriod({ endsAt }: SubscriptionColumns, now: Date): boolean {
  return endsAt !== null && now < endsAt
}

export function hasSubscriptionEnded(columns: SubscriptionColumns, now: Date): boolean {
  return isSubscriptionCancelled(columns) && !isOnGracePeriod(columns, now)
}

/**
 * Whether the subscription is paused, that is, not billed. A paused subscription may still grant
 * access.
 */
export function isSubscriptionPaused(
  columns: SubscriptionColumns & { readonly pausedAt: Date | null },
  now: Date,
): boolean {
  return columns.pausedAt !== null && !hasSubscriptionEnded(columns, now)
}

/** Whether access is suspended by an open dispute or a pause. */
export function isAccessSuspended({ isSuspended = false }: SubscriptionColumns): boolean {
  return isSuspended
}

/**
 * Whether the subscription grants access: not ended, not awaiting a payment and not suspended.
 * Includes trials and the grace period.
 */
export function isSubscriptionActive(columns: SubscriptionColumns, now: Date): boolean {
  return (
    !hasSubscriptionEnded(columns, now) &&
    !isSubscriptionIncomplete(columns) &&
    !isAccessSuspended(columns)
  )
}

/** Whether the trial is running. False for a subscription that was ended during its trial. */
export function isTrialRunning(columns: SubscriptionColumns, now: Date): boolean {
  const { trialEndsAt } = columns
  return trialEndsAt !== null && now < trialEndsAt && isSubscriptionActive(columns, now)
}

/** Whether the subscription renews: active, past its trial, not cancelled. */
export function isSubscriptionRecurring(columns: SubscriptionColumns, now: Date): boolean {
  return (
    isSubscriptionActive(columns, now) &&
    !isTrialRunning(columns, now) &&
    !isSubscriptionCancelled(columns)
  )
}

/**
 * Whether the subscription may be charged again, for example after its trial, after a pause or when
 * it starts.
 */
export function willBeBilled({
  standing,
  endsAt,
}: Pick<SubscriptionColumns, 'standing' | 'endsAt'>): boolean {
  return standing !== 'closed' && endsAt === null
}

/**
 * Whether the subscription is active, on trial or in the grace period. `subscribed()` checks this.
 */
export function isSubscriptionValid(columns: SubscriptionColumns, now: Date): boolean {
  return isSubscriptionActive(columns, now)
}

/** Whether the user's generic trial is running. The trial includes the moment at which it ends. */
export function isOnUserTrial(trialEndsAt: Date | null, now: Date): boolean {
  return trialEndsAt !== null && now <= trialEndsAt
}

/** What a subscription's condition is derived from. */
export interface SubscriptionColumns {
  /** The provider's own word: `active`, `incomplete`, `Past Due`. */
  readonly providerStatus: string
  readonly trialEndsAt: Date | null
  readonly endsAt: Date | null
}

/**
 * Statuses that open nothing, whatever the dates say: the first payment is missing, or all attempts
 * at a later one have failed. A subscription that is merely past due stays open while the provider
 * goes on trying.
 */
export const CLOSED_STATUSES: readonly string[] = [
  'incomplete',
  'incomplete_expired',
  'unpaid',
  'paused',
  'Pending',
]

export const PAST_DUE_STATUSES: readonly string[] = ['past_due', 'Past Due']

export function incomplete({ providerStatus }: SubscriptionColumns): boolean {
  return CLOSED_STATUSES.includes(providerStatus)
}

/** The first payment is missing and can still come. Another card or plan takes its place. */
export function awaitsFirstPayment({ providerStatus }: SubscriptionColumns): boolean {
  return providerStatus === 'incomplete'
}

/** A later payment failed, and the provider goes on trying. Still open. */
export function pastDue({ providerStatus }: SubscriptionColumns): boolean {
  return PAST_DUE_STATUSES.includes(providerStatus)
}

/** It was cancelled; access may go on for a while. */
export function cancelled({ endsAt }: SubscriptionColumns): boolean {
  return endsAt !== null
}

/** Cancelled, but `ends_at` is still in the future. */
export function onGracePeriod({ endsAt }: SubscriptionColumns, now: Date): boolean {
  return endsAt !== null && now < endsAt
}

export function ended(columns: SubscriptionColumns, now: Date): boolean {
  return cancelled(columns) && !onGracePeriod(columns, now)
}

/** Not ended and not waiting for a payment. Includes trials and the grace period. */
export function active(columns: SubscriptionColumns, now: Date): boolean {
  return !ended(columns, now) && !incomplete(columns)
}

/** Before the trial's end. A subscription that was ended during its trial is not on trial. */
export function onTrial(columns: SubscriptionColumns, now: Date): boolean {
  const { trialEndsAt } = columns
  return trialEndsAt !== null && now < trialEndsAt && active(columns, now)
}

/** It will be billed again: active, past its trial, not cancelled. */
export function recurring(columns: SubscriptionColumns, now: Date): boolean {
  return active(columns, now) && !onTrial(columns, now) && !cancelled(columns)
}

/** What `subscribed()` asks: active, on trial or in the grace period. */
export function valid(columns: SubscriptionColumns, now: Date): boolean {
  return active(columns, now)
}

/** The user-level trial: while now is not past its end. */
export function onUserTrial(trialEndsAt: Date | null, now: Date): boolean {
  return trialEndsAt !== null && now <= trialEndsAt
}

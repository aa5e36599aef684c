/**
 * What a provider's word for a subscription's state means to us.
 * - `open`: it runs, on trial or paid for.
 * - `awaits_first_payment`: made, but the first payment is missing and can still come.
 * - `past_due`: a later payment failed, and the provider goes on trying. Still open.
 * - `unpaid`: every attempt at a later payment failed.
 * - `begins_later`: it opens nothing until the day it is first billed.
 * - `closed`: opens nothing, for any other reason.
 */
export type Standing =
  | 'open'
  | 'awaits_first_payment'
  | 'past_due'
  | 'unpaid'
  | 'begins_later'
  | 'closed'

/** A provider's words that do not mean `open`. */
export type Statuses = Readonly<Record<string, Standing>>

/** What a subscription's condition is derived from. */
export interface SubscriptionColumns {
  readonly standing: Standing
  readonly trialEndsAt: Date | null
  readonly endsAt: Date | null
  /** A charge of it is disputed, and the application wants it closed until that is decided. */
  readonly isSuspended?: boolean
}

/** A word we do not know counts as running: whoever pays must not be locked out by a new word. */
export function standingOf(statuses: Statuses, status: string): Standing {
  return Object.hasOwn(statuses, status) ? (statuses[status] ?? 'open') : 'open'
}

/** Whether a standing opens anything. One that is past due does, while the provider goes on trying. */
export function opens(standing: Standing): boolean {
  return standing === 'open' || standing === 'past_due'
}

export function incomplete({ standing }: SubscriptionColumns): boolean {
  return !opens(standing)
}

/** The first payment is missing and can still come. Another card or plan takes its place. */
export function awaitsFirstPayment({ standing }: Pick<SubscriptionColumns, 'standing'>): boolean {
  return standing === 'awaits_first_payment'
}

/** A later payment failed, and the provider goes on trying. Still open. */
export function pastDue({ standing }: SubscriptionColumns): boolean {
  return standing === 'past_due'
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

/** Nobody pays for it, until it goes on. Access is another question. */
export function paused(
  columns: SubscriptionColumns & { readonly pausedAt: Date | null },
  now: Date,
): boolean {
  return columns.pausedAt !== null && !ended(columns, now)
}

/** Closed until a dispute is decided, or until a pause is over. */
export function suspended({ isSuspended = false }: SubscriptionColumns): boolean {
  return isSuspended
}

/** Not ended, not waiting for a payment and not suspended. Includes trials and the grace period. */
export function active(columns: SubscriptionColumns, now: Date): boolean {
  return !ended(columns, now) && !incomplete(columns) && !suspended(columns)
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

/** Bills of it may still be charged, after a trial or a pause as well, and before it has begun. */
export function willBeBilled({
  standing,
  endsAt,
}: Pick<SubscriptionColumns, 'standing' | 'endsAt'>): boolean {
  return standing !== 'closed' && endsAt === null
}

/** What `subscribed()` asks: active, on trial or in the grace period. */
export function valid(columns: SubscriptionColumns, now: Date): boolean {
  return active(columns, now)
}

/** The user-level trial: while now is not past its end. */
export function onUserTrial(trialEndsAt: Date | null, now: Date): boolean {
  return trialEndsAt !== null && now <= trialEndsAt
}

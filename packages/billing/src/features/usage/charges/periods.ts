/**
 * A range of time that includes `from` and excludes `to`. If `to` is `null`, the range has no end.
 */
export interface UsageRange {
  readonly from: Date
  readonly to: Date | null
}

/**
 * Finds the billing period that contains a time. `starts` has the starts of all periods, oldest
 * first. Times before the first start belong to the first period.
 */
export function findPeriodAt(starts: readonly Date[], at: Date): UsageRange {
  const later = starts.findIndex((start, index) => index > 0 && start > at)
  const index = later === -1 ? starts.length - 1 : later - 1
  const from = index <= 0 ? new Date(0) : (starts[index] ?? new Date(0))
  return { from, to: starts[index + 1] ?? null }
}

/**
 * Returns the time range whose usage is priced together: the billing period that contains `at`. If
 * that period began with a trial, returns either the trial or the rest of the period.
 */
export function computePricingRange(
  starts: readonly Date[],
  trialEndsAt: Date | null,
  at: Date,
): UsageRange {
  const period = findPeriodAt(starts, at)
  const hasTrial = trialEndsAt !== null && period.from < trialEndsAt
  if (!hasTrial) return period
  return at < trialEndsAt
    ? { from: period.from, to: trialEndsAt }
    : { from: trialEndsAt, to: period.to }
}

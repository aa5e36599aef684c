/** From one moment until just before another; null for no end. */
export interface UsageRange {
  readonly from: Date
  readonly to: Date | null
}

/** The period that a moment is in, by when periods began, oldest first. What was before the first belongs to it. */
export function periodAt(starts: readonly Date[], at: Date): UsageRange {
  const later = starts.findIndex((start, index) => index > 0 && start > at)
  const index = later === -1 ? starts.length - 1 : later - 1
  const from = index <= 0 ? new Date(0) : (starts[index] ?? new Date(0))
  return { from, to: starts[index + 1] ?? null }
}

/** What is priced together with a moment: its period, and of a period that began with a trial the trial or the rest. */
export function chargedWith(
  starts: readonly Date[],
  trialEndsAt: Date | null,
  at: Date,
): UsageRange {
  const period = periodAt(starts, at)
  const hasTrial = trialEndsAt !== null && period.from < trialEndsAt
  if (!hasTrial) return period
  return at < trialEndsAt
    ? { from: period.from, to: trialEndsAt }
    : { from: trialEndsAt, to: period.to }
}

import { deriveBraintreeSteps } from '../story/braintree-steps.ts'
import { listMerchants } from '../story/merchants.ts'
import type { ObservedSandbox } from '../story/observed-sandbox.ts'
import type { StepAmount, TimelineStep } from '../story/step.ts'
import { readEvents } from '../story/stripe-events.ts'
import { toTimelineSteps } from '../story/stripe-steps.ts'
import { advanceCopy, copyEverything, copyMerchant, countRows } from './copy-rows.ts'
import { removeStepLinks, sumByCurrency } from './forecast.ts'

/**
 * Largest number of objects that a forecast of a clock copies. Copying more would take too long for
 * a page.
 */
export const MAX_FORECAST_ROWS = 20_000
const MAX_EVENTS = 5000

export interface ClockForecast {
  readonly until: string
  readonly steps: readonly TimelineStep[]
  readonly paid: readonly StepAmount[]
  /**
   * Titles of the predicted steps with the number of times each step occurs, most frequent first.
   */
  readonly counts: ReadonlyArray<readonly [title: string, count: number]>
  readonly failedJobs: readonly string[]
}

/**
 * Predicts what happens if a test clock (or the sandbox's own clock, for `null`) moves to the date
 * `until`. Returns `null` if the sandbox holds too many objects to copy.
 */
export async function forecastClock(
  sandbox: ObservedSandbox,
  until: Date,
  testClock: string | null = null,
): Promise<ClockForecast | null> {
  if (countRows(sandbox) > MAX_FORECAST_ROWS) return null
  const scratch = copyEverything(sandbox)
  const from = sandbox.clock.now().toISOString()
  await advanceCopy(scratch, testClock, until)
  const events = scratch.stripe ? readEvents(scratch.stripe, { most: MAX_EVENTS }).reverse() : []
  const steps = toTimelineSteps(events)
  for (const each of listMerchants(sandbox)) {
    const merchant = copyMerchant(scratch, each)
    for (const { id } of merchant?.context.tables.customers.values() ?? []) {
      if (merchant) steps.push(...deriveBraintreeSteps(merchant, id).filter(({ at }) => at > from))
    }
  }
  steps.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
  const counts = new Map<string, number>()
  for (const { title } of steps) counts.set(title, (counts.get(title) ?? 0) + 1)
  return {
    until: until.toISOString(),
    steps: steps.map((step) => removeStepLinks(sandbox, step)),
    paid: sumByCurrency(steps),
    counts: [...counts].sort(([, a], [, b]) => b - a),
    failedJobs: scratch.failures.list().map(({ job, key, message }) => `${job} ${key}: ${message}`),
  }
}

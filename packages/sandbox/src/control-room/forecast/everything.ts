import { braintreeSteps } from '../story/braintree-steps.ts'
import { allMerchants } from '../story/merchants.ts'
import type { Amount, Step } from '../story/step.ts'
import { readEvents } from '../story/stripe-events.ts'
import { toSteps } from '../story/stripe-steps.ts'
import type { Watched } from '../story/watched.ts'
import { copyEverything, copyOf, countRows } from './copy-rows.ts'
import { sumOf, withoutLinks } from './forecast.ts'
import { moveCopy } from './move-copy.ts'

/** A copy of more rows takes too long for a page. */
export const MOST_ROWS = 20_000
const MOST_EVENTS = 5000

export interface Outlook {
  readonly until: string
  readonly steps: readonly Step[]
  readonly paid: readonly Amount[]
  /** How often each step happens, the most frequent first. */
  readonly counts: ReadonlyArray<readonly [title: string, count: number]>
  readonly failedJobs: readonly string[]
}

/**
 * What would happen if a clock were moved, a test clock or the sandbox's own; null when there is too much to try it
 * on a copy.
 */
export async function outlook(
  watched: Watched,
  until: Date,
  testClock: string | null = null,
): Promise<Outlook | null> {
  if (countRows(watched) > MOST_ROWS) return null
  const scratch = copyEverything(watched)
  const from = watched.clock.now().toISOString()
  await moveCopy(scratch, testClock, until)
  const events = scratch.stripe ? readEvents(scratch.stripe, { most: MOST_EVENTS }).reverse() : []
  const steps = toSteps(events)
  for (const each of allMerchants(watched)) {
    const merchant = copyOf(scratch, each)
    for (const { id } of merchant?.context.tables.customers.values() ?? []) {
      if (merchant) steps.push(...braintreeSteps(merchant, id).filter(({ at }) => at > from))
    }
  }
  steps.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
  const counts = new Map<string, number>()
  for (const { title } of steps) counts.set(title, (counts.get(title) ?? 0) + 1)
  return {
    until: until.toISOString(),
    steps: steps.map((step) => withoutLinks(watched, step)),
    paid: sumOf(steps),
    counts: [...counts].sort(([, a], [, b]) => b - a),
    failedJobs: scratch.failures.list().map(({ job, key, message }) => `${job} ${key}: ${message}`),
  }
}

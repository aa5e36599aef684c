import { expect } from 'vitest'
import type { ProviderName } from '../../src/index.ts'
import { type ChildOptions, type Report, type Stop, startChild } from '../child-process.ts'
import type { FlowTest } from '../support.ts'
import type { Job } from './jobs.ts'

/** Seconds a killed process keeps the retry waiting here; operations take a fraction of it. */
export const LEASE = 1

/** Processes start slowly on a busy machine. */
export const LONG = { timeout: 600_000 }

export interface Campaign<T> extends ChildOptions {
  /** Whether it is killed before what it does to its lock, too. Every operation does that alike: one story for all. */
  readonly atLocks?: boolean
  /** What so many runs begin with, one for each. */
  readonly prepare: (count: number) => Promise<readonly T[]>
  readonly jobOf: (prepared: T) => Job
  /** What is done and looked at when it was killed there. */
  readonly afterwards: (prepared: T, at: string) => Promise<unknown>
}

/**
 * The steps, from 1, at which a process is killed: all but the first, before which it has done nothing. Databases other than SQLite are
 * tried at their writes: whatever a provider is asked between two of them, they hold the same.
 */
export function chooseStops(steps: readonly string[], atLocks = false): readonly number[] {
  const { TEST_DATABASE, BILLING_KILL_EVERYWHERE } = process.env
  const atCalls = TEST_DATABASE === 'sqlite' || BILLING_KILL_EVERYWHERE === '1'
  const all = steps.map((step, at) => ({ step, stopAt: at + 1 })).slice(1)
  return all
    .filter(({ step }) => (atCalls || isWrite(step)) && (atLocks || !isLock(step)))
    .map(({ stopAt }) => stopAt)
}

/** Fails for a campaign that proves less than it says: nobody was killed on the way, or somebody not where it should be. */
export function requireTried(
  steps: readonly string[],
  stops: readonly number[],
  outcomes: readonly Report[],
): void {
  const wanted = stops.map((stopAt) => kindOf(steps[stopAt - 1] ?? ''))
  const tried = outcomes.filter(({ stopped }, at) => stopped && kindOf(stopped) === wanted[at])
  if (tried.length > 0 && tried.length === stops.length) return
  const came = outcomes.map(({ stopped }) => stopped ?? 'to its end')
  throw new Error(
    `Killed where it should be: ${tried.length} of ${stops.length}; came ${came.join(', ')}. Steps: ${steps.join(', ') || 'none'}`,
  )
}

/**
 * One process does the job to its end, which tells the steps. Then it does it for many at a time: for one to its end, and for
 * each other one to a stop. It is killed with all of them under way. Gives the steps.
 */
export async function tryEveryPoint<T>(
  test: FlowTest,
  provider: ProviderName,
  { atLocks, prepare, jobOf, afterwards, ...options }: Campaign<T>,
): Promise<readonly string[]> {
  const child = await startChild(test, provider, { lockLease: LEASE, ...options })
  async function serve(prepared: T, stop: Stop): Promise<Report> {
    const outcome = await child.begin({ ...jobOf(prepared), ...stop }).outcome()
    expect(outcome.failed).toBeUndefined()
    return outcome
  }

  // What a process reads once, such as the tax rates, is a step of its first job alone.
  if (process.env.BILLING_KILL_EVERYWHERE === '1') await serve((await prepare(1))[0] as T, {})
  const [first] = await prepare(1)
  const { steps = [] } = await serve(first as T, {})
  const stops = chooseStops(steps, atLocks)
  const prepared = await prepare(stops.length + 1)
  const ways: readonly Stop[] = [{}, ...stops.map((stopAt) => ({ stopAt }))]
  const outcomes = await Promise.all(
    prepared.slice(0, -1).map((each, at) => serve(each, ways[at] ?? {})),
  )
  // With the last one the whole process stops: in the middle of a transaction, if that is what it is about.
  outcomes.push(await serve(prepared.at(-1) as T, { ...ways.at(-1), freezes: true }))
  await child.kill()
  await Promise.all(
    prepared.map((each, at) => afterwards(each, outcomes[at]?.stopped ?? 'at the end')),
  )
  requireTried(steps, stops, outcomes.slice(1))
  return steps
}

/** The same where processes take each other's work: one for each stop, one after the other, and each prepares itself. */
export async function tryOneByOne(
  tryPoint: (stopAt: number) => Promise<Report>,
): Promise<readonly string[]> {
  const { steps = [] } = await tryPoint(Number.MAX_SAFE_INTEGER)
  const stops = chooseStops(steps)
  const outcomes: Report[] = []
  for (const stopAt of stops) outcomes.push(await tryPoint(stopAt))
  requireTried(steps, stops, outcomes)
  return steps
}

/** A process that does one job, and is killed at its stop or at its end. */
export async function killAlone(
  test: FlowTest,
  provider: ProviderName,
  job: Job & Stop,
  options: ChildOptions = {},
): Promise<{ readonly outcome: Report; readonly at: string; readonly reports: readonly Report[] }> {
  const child = await startChild(test, provider, { lockLease: LEASE, ...options })
  const begun = child.begin({ ...job, freezes: true })
  const outcome = await begun.outcome()
  await child.kill()
  expect(outcome.failed).toBeUndefined()
  return { outcome, at: outcome.stopped ?? 'at the end', reports: begun.reports() }
}

const isLock = (step: string): boolean => /^before \w+ [^(]*\bbilling_locks\b/.test(step)

const isWrite = (step: string): boolean => /^before (?:insert|update|delete)\b/i.test(step)

/** Whether a step is a call that changes something at the provider. */
export const isCall = (step: string): boolean => /^before [A-Z]+ \//.test(step)

/** The step of one user as it is of any other: the addresses of calls have ids. */
const kindOf = (step: string): string =>
  /^\w+ [A-Z]+ \//.test(step) ? step.replace(/\/[^/]*/g, '/') : step

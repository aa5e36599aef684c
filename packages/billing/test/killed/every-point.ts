import { expect } from 'vitest'
import type { ProviderName } from '../../src/index.ts'
import { type ChildOptions, type Report, type StopPoint, startChild } from '../child-process.ts'
import type { FlowTest } from '../support.ts'
import type { Job } from './jobs.ts'

/**
 * Lock lease in seconds. A retry waits this long after a kill; operations take a fraction of it.
 */
export const LOCK_LEASE_SECONDS = 1

/** Timeout for tests with child processes, which start slowly on a busy machine. */
export const LONG_TEST_TIMEOUT = { timeout: 600_000 }

export interface KillTestOptions<T> extends ChildOptions {
  /**
   * Whether to kill the process before writes to its lock, too. All operations lock alike, so one story
   * tests this for all.
   */
  readonly atLocks?: boolean
  /** Prepares the start of `count` runs. */
  readonly prepare: (count: number) => Promise<readonly T[]>
  readonly jobOf: (prepared: T) => Job
  /** Runs after the kill: retries the job and checks the result. */
  readonly afterwards: (prepared: T, at: string) => Promise<unknown>
}

/**
 * Chooses the steps, counted from 1, at which to kill a process. Omits the first step, because the
 * process has done nothing before it. On databases other than SQLite, chooses only writes: requests
 * between two writes leave the database unchanged.
 */
export function chooseStops(steps: readonly string[], atLocks = false): readonly number[] {
  const { TEST_DATABASE, BILLING_KILL_EVERYWHERE } = process.env
  const atCalls = TEST_DATABASE === 'sqlite' || BILLING_KILL_EVERYWHERE === '1'
  const all = steps.map((step, at) => ({ step, stopAt: at + 1 })).slice(1)
  return all
    .filter(({ step }) => (atCalls || isWrite(step)) && (atLocks || !isLock(step)))
    .map(({ stopAt }) => stopAt)
}

/**
 * Fails if the test proves less than it claims: if a process was not killed, or not at the expected
 * step.
 */
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
 * Runs the job once to its end to learn the steps. Then runs it concurrently many times: once to
 * the end, and once per step up to that step. Kills the process while all are running. Returns the
 * steps.
 */
export async function tryEveryPoint<T>(
  test: FlowTest,
  provider: ProviderName,
  { atLocks, prepare, jobOf, afterwards, ...options }: KillTestOptions<T>,
): Promise<readonly string[]> {
  const child = await startChild(test, provider, { lockLease: LOCK_LEASE_SECONDS, ...options })
  async function serve(prepared: T, stop: StopPoint): Promise<Report> {
    const outcome = await child.begin({ ...jobOf(prepared), ...stop }).outcome()
    expect(outcome.failed).toBeUndefined()
    return outcome
  }

  // Values that a process reads only once, such as tax rates, are steps of its first job only.
  if (process.env.BILLING_KILL_EVERYWHERE === '1') await serve((await prepare(1))[0] as T, {})
  const [first] = await prepare(1)
  const { steps = [] } = await serve(first as T, {})
  const stops = chooseStops(steps, atLocks)
  const prepared = await prepare(stops.length + 1)
  const ways: readonly StopPoint[] = [{}, ...stops.map((stopAt) => ({ stopAt }))]
  const outcomes = await Promise.all(
    prepared.slice(0, -1).map((each, at) => serve(each, ways[at] ?? {})),
  )
  // With the last one the whole process freezes, possibly within a transaction.
  outcomes.push(await serve(prepared.at(-1) as T, { ...ways.at(-1), freezes: true }))
  await child.kill()
  await Promise.all(
    prepared.map((each, at) => afterwards(each, outcomes[at]?.stopped ?? 'at the end')),
  )
  requireTried(steps, stops, outcomes.slice(1))
  return steps
}

/**
 * Like `tryEveryPoint()`, for processes that share a queue: one process per stop, one after the
 * other.
 */
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

/** Runs one job in a process, and kills it at its stop or at its end. */
export async function runAndKill(
  test: FlowTest,
  provider: ProviderName,
  job: Job & StopPoint,
  options: ChildOptions = {},
): Promise<{ readonly outcome: Report; readonly at: string; readonly reports: readonly Report[] }> {
  const child = await startChild(test, provider, { lockLease: LOCK_LEASE_SECONDS, ...options })
  const begun = child.begin({ ...job, freezes: true })
  const outcome = await begun.outcome()
  await child.kill()
  expect(outcome.failed).toBeUndefined()
  return { outcome, at: outcome.stopped ?? 'at the end', reports: begun.reports() }
}

const isLock = (step: string): boolean => /^before \w+ [^(]*\bbilling_locks\b/.test(step)

const isWrite = (step: string): boolean => /^before (?:insert|update|delete)\b/i.test(step)

/** Whether a step is a request that changes something at the provider. */
export const isCall = (step: string): boolean => /^before [A-Z]+ \//.test(step)

/** Makes steps of different users comparable: the URLs of requests contain ids. */
const kindOf = (step: string): string =>
  /^\w+ [A-Z]+ \//.test(step) ? step.replace(/\/[^/]*/g, '/') : step

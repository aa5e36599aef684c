import { expect } from 'vitest'
import { type Child, type ChildOptions, type Report, startChild } from '../child-process.ts'
import type { FlowTest, ProviderCase } from '../support.ts'

/** Seconds a killed process keeps the retry waiting here; operations take a fraction of it. */
export const LEASE = 1

/** Processes start slowly on a busy machine. */
export const LONG = { timeout: 600_000 }

export interface Campaign<T> extends ChildOptions {
  /** Most of the time is spent waiting for the lease. */
  readonly atOnce: number
  /** Whether it is killed before what it does to its lock, too. Every operation does that alike: one story for all. */
  readonly atLocks?: boolean
  /** What so many runs begin with, one for each. */
  readonly prepare: (count: number) => Promise<readonly T[]>
  /** Has the child do the job. */
  readonly begin: (child: Child, prepared: T, stopAt: number) => void
  /** What is done and looked at when it was killed there. */
  readonly afterwards: (prepared: T, at: string, child: Child) => Promise<unknown>
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

/** Fails for a campaign that proves less than it says: nobody was killed on the way, or some came to their end before their stop. */
export function requireTried(steps: readonly string[], outcomes: readonly Report[]): void {
  const tried = outcomes.flatMap(({ stopped }) => stopped ?? [])
  if (tried.length > 0 && tried.length === outcomes.length) return
  throw new Error(
    `Killed on their way: ${tried.length} processes of ${outcomes.length}. Steps: ${steps.join(', ') || 'none'}`,
  )
}

/** Lets a process do the job to its end, which tells its steps, and has one killed at each that is chosen. Gives the steps. */
export async function tryEveryPoint<T>(
  test: FlowTest,
  { provider }: ProviderCase,
  { atOnce, atLocks, prepare, begin, afterwards, ...options }: Campaign<T>,
): Promise<readonly string[]> {
  async function tryPoint(prepared: T, stopAt: number): Promise<Report> {
    const child = await startChild(test, provider, { lockLease: LEASE, ...options })
    begin(child, prepared, stopAt)
    const outcome = await child.outcome()
    await child.kill()
    expect(outcome.failed).toBeUndefined()
    await afterwards(prepared, outcome.stopped ?? 'at the end', child)
    return outcome
  }

  const [first] = await prepare(1)
  const { steps = [] } = await tryPoint(first as T, Number.MAX_SAFE_INTEGER)
  const stops = chooseStops(steps, atLocks)
  const prepared = await prepare(stops.length)
  const waiting = [...stops.entries()]
  const outcomes: Report[] = []
  const worker = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const [at, stopAt] = next
      outcomes.push(await tryPoint(prepared[at] as T, stopAt))
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  requireTried(steps, outcomes)
  return steps
}

/** The same for runs that share a clock: one by one, and each prepares itself. */
export async function tryOneByOne(
  tryPoint: (stopAt: number) => Promise<Report>,
): Promise<readonly string[]> {
  const { steps = [] } = await tryPoint(Number.MAX_SAFE_INTEGER)
  const outcomes: Report[] = []
  for (const stopAt of chooseStops(steps)) outcomes.push(await tryPoint(stopAt))
  requireTried(steps, outcomes)
  return steps
}

const isLock = (step: string): boolean => /^before \w+ [^(]*\bbilling_locks\b/.test(step)

const isWrite = (step: string): boolean => /^before (?:insert|update|delete)\b/i.test(step)

/** Whether a step is a call that changes something at the provider. */
export const isCall = (step: string): boolean => /^before [A-Z]+ \//.test(step)

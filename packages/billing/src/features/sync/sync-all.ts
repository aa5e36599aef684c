import type { BillingContext } from '../../core/context.ts'
import { InvalidArgument } from '../../core/errors/errors.ts'
import type { SyncProgress } from '../../core/storage/tables.ts'
import { requireDate } from '../../core/values/arguments.ts'
import type { SyncOptions, SyncReport } from './drift.ts'
import { listSyncPhases, type SyncPhase } from './phases.ts'
import { SyncRun } from './sync-run.ts'

/**
 * Compares every owner that has a customer with the provider, and also subscriptions without an
 * owner. The provider's lists show for which owners the data may differ. Their data is read again
 * while their locks are held, and then repaired. Can be run again at any time.
 */
export async function syncAllOwners(
  context: BillingContext,
  options: SyncOptions,
): Promise<SyncReport> {
  const { dryRun = false, resume = false, since } = options
  if (since) requireDate('since', since)
  if (dryRun && resume)
    throw new InvalidArgument(
      '`resume` cannot be combined with `dryRun`, which does not store its progress',
    )
  const kept = resume ? await context.syncRuns.find() : null
  const run = new SyncRun(context, options, kept?.place ?? null)
  const phases = await listSyncPhases(run)
  const place = findResumePosition(phases, kept?.place ?? null)
  const keeper = dryRun ? null : await createKeeper(run, kept?.run ?? null, place)
  for (const phase of phases.slice(phases.findIndex(({ name }) => name === place.phase))) {
    await runPhase(run, phase, phase.name === place.phase ? place.at : null, keeper)
  }
  const complete = !run.failures.some(({ owner }) => owner === null)
  if (complete) await keeper?.finish()
  return { users: await countUsers(run), drift: run.drift, failures: run.failures, complete }
}

/**
 * Counts the owners of providers that were listed completely, otherwise the owners that were read
 * one by one.
 */
async function countUsers({ context: { owners }, since, listed, read }: SyncRun): Promise<number> {
  if (since === null) return owners.countCustomers()
  let count = 0
  for (const provider of listed) count += await owners.countCustomers(provider)
  return Math.max(count, read)
}

/**
 * Finds the phase to continue with: the stored phase or, if it no longer exists (for example
 * because its provider was removed), the first phase.
 */
function findResumePosition(
  phases: readonly SyncPhase[],
  kept: SyncProgress | null,
): Pick<SyncProgress, 'phase' | 'at'> {
  const isThere = phases.some(({ name }) => name === kept?.phase)
  return kept && isThere ? kept : { phase: phases[0]?.name ?? '', at: null }
}

/**
 * Runs a phase to its end. If a list cannot be read, the report says so and the position is kept;
 * the other phases still run.
 */
async function runPhase(
  run: SyncRun,
  { name, step }: SyncPhase,
  from: string | null,
  keeper: ProgressKeeper | null,
): Promise<void> {
  let at = from
  for (;;) {
    await keeper?.keep(name, at)
    const done = await run.forList(name, async () => ({ next: await step(at) }))
    if (done === null) return keeper?.stop(name, at)
    if (done.next === null) return
    at = done.next
  }
}

interface ProgressKeeper {
  /** Stores the next step. */
  keep(phase: string, at: string | null): Promise<void>
  /** Stores this position and ignores all later ones, so that a resumed run continues here. */
  stop(phase: string, at: string | null): Promise<void>
  finish(): Promise<void>
}

/**
 * A position of up to this size in bytes is written after every step, a larger one only after every
 * twentieth step.
 */
const SMALL_SIZE = 64 * 1024
const STEPS_BETWEEN_SAVES = 20

async function createKeeper(
  run: SyncRun,
  resumed: string | null,
  { phase, at }: Pick<SyncProgress, 'phase' | 'at'>,
): Promise<ProgressKeeper> {
  const { syncRuns, options } = run.context
  const id = resumed ?? (await syncRuns.begin(run.placeAt(phase, at), options.clock.now()))
  let steps = 0
  let isStopped = false
  const save = (name: string, next: string | null) => syncRuns.save(id, run.placeAt(name, next))
  return {
    async keep(name, next) {
      const isDue = run.seen.size < SMALL_SIZE || steps++ % STEPS_BETWEEN_SAVES === 0
      if (!isStopped && isDue) await save(name, next)
    },
    async stop(name, next) {
      if (!isStopped) await save(name, next)
      isStopped = true
    },
    finish: () => syncRuns.finish(id),
  }
}

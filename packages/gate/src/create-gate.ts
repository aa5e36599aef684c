import { randomUUID } from 'node:crypto'
import { isUnavailable, migrate, planMigrations, requireMigrations } from '@tollgate/database'
import { createAlerts } from './alerts/alerts.ts'
import { createChanges } from './entitlements/changes.ts'
import { createEntitlements } from './entitlements/entitlements.ts'
import { followChanges } from './entitlements/follow.ts'
import { limitScopesByPlan } from './entitlements/limit-scopes.ts'
import { createPeriods } from './entitlements/periods.ts'
import { applyOverride, createPlanFinder } from './entitlements/plan-finder.ts'
import { GateUnavailable, InvalidUse } from './errors.ts'
import type { Gate } from './gate.ts'
import { createMetering, readOrRefuse } from './metering.ts'
import { type GateOptions, type ResolvedOptions, resolveOptions } from './options.ts'
import type { Meter } from './plans/meter.ts'
import type { Plan } from './plans/plan.ts'
import { createCounters } from './quotas/counters.ts'
import { openJournal } from './quotas/journal.ts'
import { createLeases } from './quotas/leases.ts'
import { createOutageAllowance } from './quotas/outage.ts'
import { createProcesses } from './quotas/processes.ts'
import { countOnce, purgeRecords } from './quotas/records.ts'
import { createReservations } from './quotas/reservations.ts'
import { createRateLimits } from './rates/bucket.ts'
import { createSharedRates } from './rates/shared.ts'
import { createOverrides, type Override } from './storage/overrides.ts'
import { gateMigrations } from './storage/tables.ts'
import { formatSubject, type Subject } from './subject.ts'

const HOUSEKEEPING_EVERY = 1000
/** Milliseconds for which counters and records are kept after their window has ended. */
const KEPT = 400 * 86_400_000
const CHANGES_KEPT = 3_600_000

/** Uses up quotas, for the package's testing helpers. */
export const quotaConsumers = new WeakMap<
  object,
  (subject: Subject, meter: string, left: number) => Promise<void>
>()

/**
 * Creates a gate: the plan of a caller decides what the caller may do, and the gate counts the
 * caller's use in the application's own database. Any number of processes may share the database.
 * @throws TypeError if an option is invalid
 * @example
 * const gate = createGate({
 *   database,
 *   meters: { calls: meter({ kind: 'count' }) },
 *   plans: {
 *     free: plan({ quota: { calls: '1000/month' }, rate: '5/second' }),
 *     pro: plan({ quota: { calls: '100000/month' }, rate: '50/second' }),
 *   },
 *   otherwise: 'free',
 *   planOf: ({ id }) => accounts.planOf(id),
 * })
 */
export function createGate<
  Meters extends Readonly<Record<string, Meter>>,
  Plans extends Readonly<Record<string, Plan>>,
>(input: GateOptions<Meters, Plans>): Gate<keyof Meters & string> {
  const options = resolveOptions(input)
  const { clock, logger } = options
  const { database } = input
  const alerts = createAlerts({
    ...{ options: input.alerts ?? null, database, clock, logger },
    usage: (subject) => metering.usage(subject),
  })
  const counters = alerts.watch(createCounters(database))
  const processes = createProcesses(database, randomUUID())
  const leases = createLeases({ counters, logger, processes: processes.count })
  const reservations = createReservations(leases, () => clock.now())
  const outage = createOutageAllowance({
    journal: input.journal === undefined ? null : openJournal(input.journal, logger),
    logger,
    count: (use) => countOnce(database, counters, { ...use, recordedAt: clock.now() }),
  })
  const ownRates = createRateLimits()
  const sharedRates =
    input.redis === undefined ? null : createSharedRates(input.redis, ownRates, logger)
  const overrides = createOverrides(database)
  const periods = createPeriods(database)
  const changes = createChanges(database)
  const follower = followChanges({
    sources: [changes],
    logger,
    onChange: (subject) => entitlements.forget(subject),
    onBreak: () => entitlements.forgetAll(),
  })
  const findPlan = createPlanFinder(options, overrides, periods)
  const entitlements = createEntitlements({ follower, clock, load: findPlan })

  let isReady = false
  let isClosed = false
  let starting: Promise<void> | null = null
  let timer: ReturnType<typeof setTimeout> | null = null

  async function start(): Promise<void> {
    if (input.migrate === false) await requireMigrations(database, gateMigrations)
    else await migrate(database, gateMigrations)
    if (clock === database.clock) await database.clock.begin()
    await processes.beat()
    await sharedRates?.start()
    follower.start()
    scheduleHousekeeping()
    isReady = true
  }

  function ready(): Promise<void> | null {
    if (isReady) return null
    starting ??= start().catch((error) => {
      // Lets the next call try again: a database that was down may be back.
      starting = null
      throw isUnavailable(error)
        ? new GateUnavailable('The gate cannot reach its database', { cause: error })
        : error
    })
    return starting
  }

  function scheduleHousekeeping(): void {
    if (isClosed) return
    timer = setTimeout(async () => {
      try {
        await processes.beat()
        await outage.flush()
        await reservations.sweep()
        await leases.sweep()
        await alerts.check()
      } catch (error) {
        if (!isUnavailable(error)) logger.error('The housekeeping of the gate failed', error)
      }
      scheduleHousekeeping()
    }, HOUSEKEEPING_EVERY)
    timer.unref?.()
  }

  const waitReady = <R>(work: () => R | Promise<R>): R | Promise<R> => {
    const waiting = ready()
    return waiting ? waiting.then(work) : work()
  }
  const whenReady = async <R>(work: () => R | Promise<R>): Promise<R> => waitReady(work)

  const metering = createMetering({
    options,
    database,
    clock,
    counters,
    leases,
    reservations,
    outage,
    rates: sharedRates ?? ownRates,
    entitlements,
  })

  const stopLimiting = input.oauth
    ? limitScopesByPlan(input.oauth, { ...options, entitlements, whenReady: waitReady })
    : () => {}

  const findEntitlement = (subject: Subject) => entitlements.of(formatSubject(subject), subject)

  const gate: Gate<keyof Meters & string> = {
    admit: (...args) => waitReady(() => metering.admit(...args)),
    check: (...args) => whenReady(() => metering.check(...args)),
    reserve: (...args) => whenReady(() => metering.reserve(...args)),
    record: (...args) => whenReady(() => metering.record(...args)),
    adjust: (...args) => whenReady(() => metering.adjust(...args)),
    usage: (...args) => whenReady(() => metering.usage(...args)),
    planOf: (subject) => whenReady(async () => (await findEntitlement(subject)).plan),
    checkPlan: (...args) => whenReady(() => metering.checkPlan(...args)),
    checkFeature: (...args) => whenReady(() => metering.checkFeature(...args)),
    scopesOf: (subject) =>
      waitReady(() => {
        const found = findEntitlement(subject)
        return found instanceof Promise
          ? found.then(({ terms }) => terms.scopes)
          : found.terms.scopes
      }),
    override: (subject, override) =>
      whenReady(async () => {
        const key = formatSubject(subject)
        requireOverride(options, override)
        await readOrRefuse(() =>
          database.transaction(async (tx) => {
            await overrides.save(key, override, clock.now(), tx)
            await changes.add(key, tx)
          }),
        )
        entitlements.forget(key)
      }),
    removeOverride: (subject) =>
      whenReady(async () => {
        const key = formatSubject(subject)
        const removed = await readOrRefuse(() =>
          database.transaction(async (tx) => {
            if (!(await overrides.remove(key, tx))) return false
            await changes.add(key, tx)
            return true
          }),
        )
        entitlements.forget(key)
        return removed
      }),
    refresh: (subject) =>
      whenReady(async () => {
        const key = formatSubject(subject)
        await readOrRefuse(() => changes.add(key))
        entitlements.forget(key)
      }),
    migrate: (migrateOptions) => migrate(database, gateMigrations, migrateOptions),
    planMigrations: () => planMigrations(database, gateMigrations),
    purge: () =>
      whenReady(async () => {
        const now = clock.now().getTime()
        const kept = new Date(now - KEPT)
        return (
          (await counters.purge(kept)) +
          (await purgeRecords(database, kept)) +
          (await periods.purge(kept)) +
          (await alerts.purge(kept)) +
          (await changes.purge(new Date(now - CHANGES_KEPT)))
        )
      }),
    async close() {
      isClosed = true
      stopLimiting()
      if (timer) clearTimeout(timer)
      follower.stop()
      sharedRates?.close()
      if (!isReady) return
      await outage.flush().catch((error) => {
        if (input.journal === undefined) logger.error('Use during an outage is lost', error)
        else logger.warn('Use during an outage stays in the journal, for the next process', error)
      })
      await reservations.close()
      await alerts.check()
      await leases.close()
      await processes.leave().catch(() => {})
    },
  }
  quotaConsumers.set(gate, (...args) => whenReady(() => metering.useUp(...args)))
  return gate
}

/** @throws InvalidUse if the override names an unknown plan or meter, or has impossible terms */
function requireOverride(options: ResolvedOptions, override: Override): void {
  applyOverride(options, override.plan ?? options.otherwise, override)
  const { endsAt = null } = override
  if (endsAt === null || !Number.isNaN(endsAt.getTime())) return
  throw new InvalidUse('endsAt is not a valid date')
}

import type { Database } from '@tollgate/database'
import { Busy, InvalidArgument } from '../../core/errors/errors.ts'
import type { EventStream } from '../../core/events/event-stream.ts'
import { purgeInBatches } from '../../core/storage/queue.ts'
import type { UsageState } from '../../core/storage/queue-tables.ts'
import { withTypedErrors } from '../../core/storage/typed-errors.ts'
import type { ProviderName } from '../../core/values/provider-name.ts'
import {
  createWorker,
  type QueueWorker,
  type WorkerSettings,
  type WorkerTask,
} from '../../core/worker.ts'
import { requireGatewayPart } from '../../providers/gateway-parts.ts'
import { type DroppedReport, isChargedByUs } from './contract.ts'
import { buildUsageRefusedEvent } from './events.ts'
import { logLateUsage } from './late-usage.ts'
import {
  findBilledCustomerId,
  sendUsageReports,
  type UsageSenderContext,
  type UsageSendResult,
  usageConcernsOwner,
} from './send-usage.ts'
import type { UsageChargeWorker, UsageQueue } from './usage-queue.ts'
import type {
  ClaimedUsage,
  NewUsage,
  StoredUsage,
  UsageRepository,
  WaitingUsage,
} from './usage-rows.ts'
import { mayReportBeCancelled } from './usage-value.ts'

export interface UsageQueueContext extends UsageSenderContext {
  readonly database: Database
  readonly usage: UsageRepository
  readonly events: EventStream
  readonly settings: WorkerSettings
  /** Providers whose gateway implements `usage`. */
  readonly providers: readonly ProviderName[]
  /** Providers that count usage themselves, so that reports are sent to them. */
  readonly counting: readonly ProviderName[]
}

/**
 * Longest pause between attempts, in seconds. Usage of a past period counts only if it arrives
 * within the hour.
 */
const LONGEST_PAUSE = 15 * 60

export function createUsageQueue(context: UsageQueueContext): UsageQueue {
  const { usage, database, settings, providers, counting } = context
  const { clock } = settings
  const queues = providers.map((provider) => usage.queue(provider))
  const workers = new Map<ProviderName, QueueWorker>(
    counting.map((provider) => [
      provider,
      createWorker(retryWhileBillable(settings), createUsageTask(context, provider)),
    ]),
  )
  const served = new Map<ProviderName, UsageChargeWorker>()
  const listAll = async (state: UsageState, limit: number) => {
    const lists = await Promise.all(queues.map((queue) => queue.list(state, limit)))
    return lists.flat().sort(oldestFirst).slice(0, limit)
  }
  return {
    async add(added, tx) {
      const now = clock.now()
      const dueAt = computeReportDueAt(added, served.get(added.provider), now)
      const isNew = await usage.add(added, { now, dueAt }, tx ? withTypedErrors(tx) : database)
      // Within the caller's transaction the report is not visible to others yet: the timer finds it
      // after the commit.
      if (isNew && tx === null && dueAt <= now) workers.get(added.provider)?.kick()
      return isNew
    },
    find: (by, reference, tx) => usage.find(by, reference, tx ? withTypedErrors(tx) : database),
    waiting: (owner, provider) => usage.listWaiting(owner, provider),
    unbilled: (by) => usage.countWaiting(by),
    voidAll: (by, tx) => usage.cancelWaiting(by, clock.now(), tx),
    sendNow: (provider, waiting) => sendNow(context, provider, waiting),
    refuseDropped: (provider, dropped) => refuseDroppedReports(context, provider, dropped),
    cancel: (reported) => cancel(context, reported),
    serve(provider, given) {
      served.set(provider, given)
      workers.set(provider, given.worker)
    },
    refuse: (subscription, meters, reason) => refuseAll(context, subscription, meters, reason),
    async retryUnpaid(provider, subscriptions) {
      await served.get(provider)?.makeDue(subscriptions, database)
      served.get(provider)?.worker.kick()
    },
    async makeDue(provider, subscriptions, tx) {
      await served.get(provider)?.makeDue(subscriptions, tx)
    },
    wake: (provider) => served.get(provider)?.worker.kick(),
    process: async () => {
      await Promise.all([...workers.values()].map((worker) => worker.process()))
    },
    pending: (limit = 100) => listAll('pending', limit),
    refused: (limit = 100) => listAll('refused', limit),
    async retry(id) {
      const found = await usage.retry(id, clock.now())
      for (const worker of workers.values()) worker.kick()
      return found
    },
    async purge(before) {
      let deleted = 0
      for (const queue of queues) {
        for (const state of ['sent', 'refused', 'cancelled'] as const) {
          deleted += await purgeInBatches((limit) => queue.purge(state, before, limit))
        }
      }
      return deleted
    },
    async stop() {
      await Promise.all([...workers.values()].map((worker) => worker.stop()))
    },
  }
}

const HOUR = 3_600_000

/**
 * Returns when a report is due. Usage of the last hour waits until its subscription is charged next;
 * older usage may belong to a past period, and is due now.
 */
function computeReportDueAt(
  { subscriptionId, at }: NewUsage,
  served: UsageChargeWorker | undefined,
  now: Date,
): Date {
  const until = subscriptionId === null ? null : (served?.dueAt(subscriptionId) ?? null)
  return until && until > now && now.getTime() - at.getTime() < HOUR ? until : now
}

function oldestFirst(a: StoredUsage, b: StoredUsage): number {
  return a.dueAt.getTime() - b.dueAt.getTime() || a.id - b.id
}

/**
 * Returns worker settings that retry as long as a report may still count, so that no money is lost
 * because a provider is unavailable for a day.
 */
function retryWhileBillable(settings: WorkerSettings): WorkerSettings {
  return { ...settings, attempts: Number.POSITIVE_INFINITY, longestPause: LONGEST_PAUSE }
}

function createUsageTask(
  context: UsageQueueContext,
  provider: ProviderName,
): WorkerTask<ClaimedUsage> {
  const { usage, settings } = context
  const queue = usage.queue(provider)
  return {
    what: 'usage',
    queue: { ...queue, finish: (id, _state, at) => queue.finish(id, 'sent', at) },
    nameOf: ({ meter, reference }) => `${meter} (${reference})`,
    async workTogether(claimed) {
      const now = settings.clock.now()
      const outcomes = await sendUsageReports(context, provider, claimed, now)
      const sent = claimed.filter((_, at) => outcomes[at]?.state === 'sent')
      await logLateUsage(context, sent, now)
      const settled: unknown[] = []
      for (const [at, each] of claimed.entries()) {
        settled.push(await storeOutcome(context, each, outcomes[at]))
      }
      return settled
    },
  }
}

/**
 * Sends each report once, and stops after the first failure, so that the waiting caller gets a
 * quick result. Returns how many were not sent.
 */
async function sendNow(
  context: UsageQueueContext,
  provider: ProviderName,
  waiting: readonly WaitingUsage[],
): Promise<number> {
  const left = waiting.map(({ id }) => id)
  let failed = 0
  const work = createUsageTask(context, provider)
  const worker = createWorker(
    // Not observed, because it is no background job: a caller waits for it.
    { ...retryWhileBillable(context.settings), everySeconds: null, observe: undefined },
    {
      ...work,
      queue: {
        ...work.queue,
        listDue: async (_at, limit) => (failed > 0 ? [] : left.splice(0, limit)),
        claim: context.usage.claimAnyway,
        fail(id, failure) {
          failed += 1
          return work.queue.fail(id, failure)
        },
      },
    },
  )
  await worker.process()
  return failed + left.length
}

/** Stores the outcome of a report. Returns the error if it must be retried, otherwise `null`. */
async function storeOutcome(
  context: UsageQueueContext,
  claimed: ClaimedUsage,
  outcome: UsageSendResult | undefined,
): Promise<Error | null> {
  const error = outcome?.error ?? 'The provider did not accept this report'
  if (outcome?.state === 'sent') return null
  if (outcome?.state === 'refused') {
    await refuse(context, [claimed], error)
    return null
  }
  if (outcome?.state === 'later' && !claimed.isRepeat) await context.usage.markNotReceived(claimed)
  return new Error(error)
}

/** Marks reports as refused, and records one event for each in the same transaction. */
async function refuse(
  { usage, database, events, settings, owners }: UsageQueueContext,
  refused: readonly StoredUsage[],
  reason: string,
  mark: UsageRepository['refuse'] = usage.refuse,
): Promise<void> {
  const now = settings.clock.now()
  const concerned = await Promise.all(refused.map((each) => usageConcernsOwner(owners, each)))
  await database.transaction(async (tx) => {
    for (const [at, each] of refused.entries()) {
      const isNew = await mark(each.id, reason, now, tx)
      if (isNew && concerned[at]) await events.record(tx, buildUsageRefusedEvent(each, reason, now))
    }
  })
  events.committed()
  for (const { meter, reference } of refused) {
    settings.logger.error(`Usage ${meter} (${reference}) is not billed: ${reason}`)
  }
}

const PAGE = 100

/** Refuses page by page, because there may be very many reports. */
async function refuseAll(
  context: UsageQueueContext,
  subscription: number,
  meters: readonly string[] | null,
  reason: string,
): Promise<void> {
  for (;;) {
    const some = await context.usage.listPending(subscription, meters, PAGE)
    if (some.length > 0) await refuse(context, some, reason)
    if (some.length < PAGE) return
  }
}

async function refuseDroppedReports(
  context: UsageQueueContext,
  provider: ProviderName,
  dropped: readonly DroppedReport[],
): Promise<number> {
  let ours = 0
  for (const { id, error, isOf } of dropped) {
    const found = await context.usage.findByIdentifier(id)
    if (found?.provider !== provider) continue
    // A missing customer may be the reason why the provider dropped the report.
    const customerId = await findBilledCustomerId(context.owners, found)
    if (customerId !== null && !isOf(customerId)) continue
    ours += 1
    await refuse(context, [found], error, context.usage.refuseDropped)
  }
  return ours
}

async function cancel(context: UsageQueueContext, reported: StoredUsage): Promise<void> {
  const { usage, settings } = context
  const { id, state, meter, identifier, finishedAt } = reported
  const now = settings.clock.now()
  if (state === 'cancelled' || state === 'refused') return
  if (state === 'pending' && (await usage.cancelUnsent(id, now))) return
  const part = requireGatewayPart(await context.gateway(reported.provider), 'usage')
  if (isChargedByUs(part)) {
    const isCharged = state !== 'pending'
    throw isCharged
      ? new InvalidArgument(
          'This usage was already charged and cannot be cancelled: refund its invoice. A negative value would not refund anything',
        )
      : new Busy('This usage is being charged: refund its invoice afterwards')
  }
  if (state === 'pending') {
    throw new Busy('This report is being sent to the provider: cancel it once it has arrived')
  }
  if (!mayReportBeCancelled(finishedAt ?? now, now)) {
    throw new InvalidArgument(
      'This report was sent more than 24 hours ago: report a negative value to correct it',
    )
  }
  const customerId = await findBilledCustomerId(context.owners, reported)
  if (customerId === null) {
    throw new InvalidArgument(`The ${reported.owner.type} no longer has a customer at the provider`)
  }
  await part.cancel({ id: identifier, meter, customerId })
  await usage.markCancelled(id, now)
}

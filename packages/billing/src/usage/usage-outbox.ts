import type { Database } from '@tollgate/database'
import { Busy, InvalidArgument } from '../errors.ts'
import type { EventStream } from '../events/event-stream.ts'
import { usageRefused } from '../events/of-usage.ts'
import { createWorker, type Work, type Worker, type WorkerSettings } from '../events/worker.ts'
import { type DroppedReport, isChargedByUs } from '../gateways/contract/parts/money/usage.ts'
import { requirePart } from '../gateways/contract/parts.ts'
import type { ProviderName } from '../provider-name.ts'
import { purgeAll } from '../storage/queues/queue.ts'
import type { UsageState } from '../storage/queues/tables.ts'
import type {
  ClaimedUsage,
  NewUsage,
  StoredUsage,
  UnbilledUsage,
  UsageReporter,
  UsageRepository,
  WaitingUsage,
} from '../storage/queues/usage.ts'
import { withTypedErrors } from '../storage/typed-errors.ts'
import type { Owner } from '../values/owner.ts'
import { mayBeCancelled } from '../values/usage.ts'
import { warnOfLate } from './late-usage.ts'
import {
  concernsOwner,
  customerOf,
  type SenderContext,
  type Sent,
  sendUsage,
} from './send-usage.ts'

/** What was used, on its way to the provider. */
export interface UsageOutbox {
  /** Sends what is due now. */
  process(): Promise<void>
  /** Not at the provider yet. */
  pending(limit?: number): Promise<StoredUsage[]>
  /** What the provider did not take: it is not billed. */
  refused(limit?: number): Promise<StoredUsage[]>
  /** Makes one due again that was refused. Of one of which nobody knows, look first whether it was counted. */
  retry(id: number): Promise<boolean>
  /** Deletes what is over since before then, and says how many. The same could then be reported again: keep months. */
  purge(before: Date): Promise<number>
}

/** The same, for the rest of billing. */
export interface UsageQueue extends UsageOutbox {
  /** Writes it down, once for each customer and reference; `false` when it was there. Sent afterwards. */
  add(usage: NewUsage, tx: Database | null): Promise<boolean>
  find(by: UsageReporter, reference: string, tx: Database | null): Promise<StoredUsage | null>
  /** Whose usage of which meters waits to be sent, oldest first. */
  waiting(owner: Owner, provider: ProviderName): Promise<WaitingUsage[]>
  /** Counts a customer's reports that are not billed yet, by provider and meter. */
  unbilled(by: UsageReporter): Promise<UnbilledUsage[]>
  /** Cancels every report of a customer that is not billed yet. Callers must hold the owner's lock. Returns how many. */
  voidAll(by: UsageReporter, tx: Database): Promise<number>
  /** Sends these now, also those in the pause before another attempt. Says how many the provider has not got. */
  sendNow(provider: ProviderName, waiting: readonly WaitingUsage[]): Promise<number>
  /** Refuses reports that the provider took, and dropped later. Says how many of them are ours. */
  refuseTaken(provider: ProviderName, dropped: readonly DroppedReport[]): Promise<number>
  /** Takes a report back; a repeat does nothing. */
  cancel(usage: StoredUsage): Promise<void>
  /** For a provider whose usage we count. For whoever puts billing together. */
  serve(provider: ProviderName, served: ServedUsage): void
  /** What waits of a subscription, of these meters or of any, is not billed: told, and not tried again. */
  refuse(subscription: number, meters: readonly string[] | null, reason: string): Promise<void>
  /** What is owed with these subscriptions is tried again now: there is another card, or one of them ended. */
  lookAgain(provider: ProviderName, subscriptions: readonly number[]): Promise<void>
  /** The same in a transaction, for whoever holds the owner's lock: the timer finds it, or whoever wakes it afterwards. */
  makeDue(provider: ProviderName, subscriptions: readonly number[], tx: Database): Promise<void>
  /** Looks for what is due now, where we count usage. */
  wake(provider: ProviderName): void
  stop(): Promise<void>
}

/** How usage is worked off that we count. */
export interface ServedUsage {
  readonly worker: Worker
  /** Until when nothing of a subscription is to be done; null where nobody knows. */
  dueAt(subscription: number): Date | null
  makeDue(subscriptions: readonly number[], tx: Database): Promise<void>
}

export interface UsageQueueContext extends SenderContext {
  readonly database: Database
  readonly usage: UsageRepository
  readonly events: EventStream
  readonly settings: WorkerSettings
  /** Those that have the part `usage`. */
  readonly providers: readonly ProviderName[]
  /** Those among them that count it themselves. */
  readonly counting: readonly ProviderName[]
}

/** Seconds. What belongs to a period that is over counts only if it is there within the hour. */
const LONGEST_PAUSE = 15 * 60

export function createUsageQueue(context: UsageQueueContext): UsageQueue {
  const { usage, database, settings, providers, counting } = context
  const { clock } = settings
  const queues = providers.map((provider) => usage.queue(provider))
  const workers = new Map<ProviderName, Worker>(
    counting.map((provider) => [
      provider,
      createWorker(patient(settings), workOf(context, provider)),
    ]),
  )
  const served = new Map<ProviderName, ServedUsage>()
  const listAll = async (state: UsageState, limit: number) => {
    const lists = await Promise.all(queues.map((queue) => queue.list(state, limit)))
    return lists.flat().sort(oldestFirst).slice(0, limit)
  }
  return {
    async add(added, tx) {
      const now = clock.now()
      const dueAt = dueOf(added, served.get(added.provider), now)
      const isNew = await usage.add(added, { now, dueAt }, tx ? withTypedErrors(tx) : database)
      // In somebody's transaction nobody else sees it before the end: the timer finds it.
      if (isNew && tx === null && dueAt <= now) workers.get(added.provider)?.kick()
      return isNew
    },
    find: (by, reference, tx) => usage.find(by, reference, tx ? withTypedErrors(tx) : database),
    waiting: (owner, provider) => usage.listWaiting(owner, provider),
    unbilled: (by) => usage.countWaiting(by),
    voidAll: (by, tx) => usage.cancelWaiting(by, clock.now(), tx),
    sendNow: (provider, waiting) => sendNow(context, provider, waiting),
    refuseTaken: (provider, dropped) => refuseTaken(context, provider, dropped),
    cancel: (reported) => cancel(context, reported),
    serve(provider, given) {
      served.set(provider, given)
      workers.set(provider, given.worker)
    },
    refuse: (subscription, meters, reason) => refuseAll(context, subscription, meters, reason),
    async lookAgain(provider, subscriptions) {
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
          deleted += await purgeAll((limit) => queue.purge(state, before, limit))
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

/** What was used now waits with the rest of its subscription; what was used earlier may belong to a period that is over. */
function dueOf({ subscriptionId, at }: NewUsage, served: ServedUsage | undefined, now: Date): Date {
  const until = subscriptionId === null ? null : (served?.dueAt(subscriptionId) ?? null)
  return until && until > now && now.getTime() - at.getTime() < HOUR ? until : now
}

function oldestFirst(a: StoredUsage, b: StoredUsage): number {
  return a.dueAt.getTime() - b.dueAt.getTime() || a.id - b.id
}

/** It is tried for as long as it may still count: money is not given up because a provider is away for a day. */
function patient(settings: WorkerSettings): WorkerSettings {
  return { ...settings, attempts: Number.POSITIVE_INFINITY, longestPause: LONGEST_PAUSE }
}

function workOf(context: UsageQueueContext, provider: ProviderName): Work<ClaimedUsage> {
  const { usage, settings } = context
  const queue = usage.queue(provider)
  return {
    what: 'usage',
    queue: { ...queue, finish: (id, _state, at) => queue.finish(id, 'sent', at) },
    nameOf: ({ meter, reference }) => `${meter} (${reference})`,
    async workTogether(claimed) {
      const now = settings.clock.now()
      const outcomes = await sendUsage(context, provider, claimed, now)
      const sent = claimed.filter((_, at) => outcomes[at]?.state === 'sent')
      await warnOfLate(context, sent, now)
      const settled: unknown[] = []
      for (const [at, each] of claimed.entries()) {
        settled.push(await settle(context, each, outcomes[at]))
      }
      return settled
    },
  }
}

/** Each is tried once, and none after one that failed: whoever waits for them hears of it soon. */
async function sendNow(
  context: UsageQueueContext,
  provider: ProviderName,
  waiting: readonly WaitingUsage[],
): Promise<number> {
  const left = waiting.map(({ id }) => id)
  let failed = 0
  const work = workOf(context, provider)
  const worker = createWorker(
    { ...patient(context.settings), everySeconds: null },
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

/** What went wrong, for whoever tries again; null where that is over. */
async function settle(
  context: UsageQueueContext,
  claimed: ClaimedUsage,
  outcome: Sent | undefined,
): Promise<Error | null> {
  const error = outcome?.error ?? 'The provider did not take it'
  if (outcome?.state === 'sent') return null
  if (outcome?.state === 'refused') {
    await refuse(context, [claimed], error)
    return null
  }
  if (outcome?.state === 'later' && !claimed.isRepeat) await context.usage.markUntaken(claimed)
  return new Error(error)
}

/** Rows and events together, each once. */
async function refuse(
  { usage, database, events, settings, owners }: UsageQueueContext,
  refused: readonly StoredUsage[],
  reason: string,
  mark: UsageRepository['refuse'] = usage.refuse,
): Promise<void> {
  const now = settings.clock.now()
  const told = await Promise.all(refused.map((each) => concernsOwner(owners, each)))
  await database.transaction(async (tx) => {
    for (const [at, each] of refused.entries()) {
      const isNew = await mark(each.id, reason, now, tx)
      if (isNew && told[at]) await events.record(tx, usageRefused(each, reason, now))
    }
  })
  events.committed()
  for (const { meter, reference } of refused) {
    settings.logger.error(`Usage ${meter} (${reference}) is not billed: ${reason}`)
  }
}

const PAGE = 100

/** Some at a time: there may be a great many. */
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

async function refuseTaken(
  context: UsageQueueContext,
  provider: ProviderName,
  dropped: readonly DroppedReport[],
): Promise<number> {
  let ours = 0
  for (const { id, error, isOf } of dropped) {
    const found = await context.usage.findByIdentifier(id)
    if (found?.provider !== provider) continue
    // Whoever has no customer there any more may well be the reason.
    const customerId = await customerOf(context.owners, found)
    if (customerId !== null && !isOf(customerId)) continue
    ours += 1
    await refuse(context, [found], error, context.usage.refuseTaken)
  }
  return ours
}

async function cancel(context: UsageQueueContext, reported: StoredUsage): Promise<void> {
  const { usage, settings } = context
  const { id, state, meter, identifier, finishedAt } = reported
  const now = settings.clock.now()
  if (state === 'cancelled' || state === 'refused') return
  if (state === 'pending' && (await usage.cancelUnsent(id, now))) return
  const part = requirePart(await context.gateway(reported.provider), 'usage')
  if (isChargedByUs(part)) {
    const isCharged = state !== 'pending'
    throw isCharged
      ? new InvalidArgument(
          'It was charged, and is not taken back: refund its invoice. A value below zero gives no money back',
        )
      : new Busy('It is being charged: when it was, refund its invoice')
  }
  if (state === 'pending') {
    throw new Busy('It is on its way to the provider: take it back when it is there')
  }
  if (!mayBeCancelled(finishedAt ?? now, now)) {
    throw new InvalidArgument(
      'It was sent more than 24 hours ago: report a value below zero, which corrects it',
    )
  }
  const customerId = await customerOf(context.owners, reported)
  if (customerId === null) {
    throw new InvalidArgument(`The ${reported.owner.type} has no customer there any more`)
  }
  await part.cancel({ id: identifier, meter, customerId })
  await usage.markCancelled(id, now)
}

import type { Database } from '@tollgate/database'
import { type EventRepository, eventIdOf, type StoredEvent } from '../storage/queues/events.ts'
import { purgeAll } from '../storage/queues/queue.ts'
import {
  type AnyBillingEvent,
  type BillingEvent,
  type BillingEventType,
  billingEventTypes,
  type EventListeners,
  type NewBillingEvent,
} from './billing-event.ts'
import { createWorker, type Worker, type WorkerSettings } from './worker.ts'

/** Somebody who is told of events. */
export interface EventConsumer {
  wants(type: BillingEventType): boolean
  /** At least once for each event, until it does not throw. */
  take(event: AnyBillingEvent): Promise<void>
}

/** Events on their way to the application, and those given up on. */
export interface EventOutbox {
  /** Works until nothing is due. */
  process(): Promise<void>
  /** Events given up on after all attempts, oldest first. */
  deadLetters(limit?: number): Promise<StoredEvent[]>
  /** Events not told yet. */
  pending(limit?: number): Promise<StoredEvent[]>
  /** Makes a dead letter due again. */
  retry(id: number): Promise<boolean>
  /**
   * Deletes what was told or given up before then, and says how many. The same could then be told again: weeks are few
   * enough.
   */
  purge(before: Date): Promise<number>
}

/**
 * What happened, written down in the transaction of the row that it tells of, and told afterwards. Nothing is written that
 * nobody wants to know.
 */
export interface EventStream extends EventOutbox {
  /** From now on. For whoever puts billing together. */
  tell(consumer: EventConsumer): void
  /** Looks for what time alone brings about; from now on, once an hour. */
  lookAround(look: () => Promise<void>): void
  find(eventId: string): Promise<AnyBillingEvent | null>
  /** The one of this type with this subject; null where nobody has told of it. */
  findAbout<Type extends BillingEventType>(
    type: Type,
    subject: string,
  ): Promise<BillingEvent<Type> | null>
  /** For what has to be asked for first. */
  isWanted(type: BillingEventType): boolean
  /** A repeat with the same type and subject is not written again. */
  record(tx: Database, event: NewBillingEvent): Promise<void>
  /** What was recorded meanwhile is committed, and can be told. */
  committed(): void
  stop(): Promise<void>
}

export function createEventStream(events: EventRepository, settings: WorkerSettings): EventStream {
  const consumers: EventConsumer[] = []
  const wanting = (type: BillingEventType) => consumers.filter((each) => each.wants(type))
  const isWanted = (type: BillingEventType) => wanting(type).length > 0
  let wanted = events.dueOf([])
  let worker: Worker | null = null
  let isRecorded = false
  let look: () => Promise<void> = async () => undefined

  const find = async (eventId: string) => {
    const found = await events.find(eventId)
    return found && read(found)
  }

  return {
    tell(consumer) {
      consumers.push(consumer)
      wanted = events.dueOf(billingEventTypes.filter(isWanted))
      worker ??= createWorker(settings, {
        what: 'event',
        lookAround: async () => look(),
        // What only other processes want is theirs to tell.
        queue: { ...events, listDue: (at, limit) => wanted.listDue(at, limit) },
        work: (stored) => tellAll(wanting(stored.type as BillingEventType), read(stored)),
        nameOf: ({ type, eventId }) => `${type} (${eventId})`,
      })
    },
    lookAround(given) {
      look = given
    },
    find,
    findAbout: async <Type extends BillingEventType>(type: Type, subject: string) =>
      (await find(eventIdOf({ type, subject }))) as BillingEvent<Type> | null,
    isWanted,
    async record(tx, { provider, data, ...event }) {
      if (!isWanted(event.type)) return
      isRecorded = true
      const payload = JSON.stringify({ provider, data })
      await events.add({ ...event, payload }, settings.clock.now(), tx)
    },
    committed() {
      if (!isRecorded) return
      isRecorded = false
      worker?.kick()
    },
    process: async () => worker?.process(),
    deadLetters: (limit = 100) => events.list('dead', limit),
    pending: (limit = 100) => events.list('pending', limit),
    async retry(id) {
      const found = await events.retry(id, settings.clock.now())
      worker?.kick()
      return found
    },
    async purge(before) {
      await settings.ready()
      const told = await purgeAll((limit) => events.purge('done', before, limit))
      return told + (await purgeAll((limit) => events.purge('dead', before, limit)))
    },
    stop: async () => worker?.stop(),
  }
}

/** Those who can be told are, also when another one fails. */
async function tellAll(consumers: readonly EventConsumer[], event: AnyBillingEvent): Promise<void> {
  const told = await Promise.allSettled(consumers.map(async (each) => each.take(event)))
  for (const outcome of told) if (outcome.status === 'rejected') throw outcome.reason
}

function read({ eventId: id, type, createdAt, owner, payload }: StoredEvent): AnyBillingEvent {
  // As `record` has written it, which the compiler held to the types.
  return { id, type, createdAt, owner, ...JSON.parse(payload) } as AnyBillingEvent
}

/** The application's own functions. */
export function listenersOf(on: EventListeners): EventConsumer {
  const find = (type: BillingEventType) => (Object.hasOwn(on, type) ? on[type] : undefined)
  return {
    wants: (type) => find(type) !== undefined,
    async take(event) {
      const listen = find(event.type) as ((event: AnyBillingEvent) => unknown) | undefined
      await listen?.(event)
    },
  }
}

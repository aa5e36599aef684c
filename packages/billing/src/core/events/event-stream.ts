import type { Database } from '@tollgate/database'
import { deriveEventId, type EventRepository, type StoredEvent } from '../storage/events.ts'
import { purgeInBatches } from '../storage/queue.ts'
import { createWorker, type QueueWorker, type WorkerSettings } from '../worker.ts'
import {
  type AnyBillingEvent,
  type BillingEvent,
  type BillingEventType,
  billingEventTypes,
  type EventListeners,
  type NewBillingEvent,
} from './billing-event.ts'

/** A receiver of events: the application's listeners, mail or outgoing webhooks. */
export interface EventConsumer {
  wants(type: BillingEventType): boolean
  /** Handles an event. Called at least once per event, and again until a call succeeds. */
  handle(event: AnyBillingEvent): Promise<void>
}

/**
 * The outbox of billing events. Lists undelivered events and dead letters, and retries dead
 * letters.
 */
export interface EventOutbox {
  /** Lists the events that failed in every attempt, oldest first. */
  deadLetters(limit?: number): Promise<StoredEvent[]>
  /** Lists the events that were not delivered yet. */
  pending(limit?: number): Promise<StoredEvent[]>
  /** Makes a dead letter due again. Returns false if there is no dead letter with this id. */
  retry(id: number): Promise<boolean>
}

/**
 * The outbox of billing events. Events are recorded in the transaction that writes the row they
 * describe, and delivered afterwards. Events that no consumer wants are not recorded.
 */
export interface EventStream extends EventOutbox {
  /** Delivers events until none is due. */
  process(): Promise<void>
  /**
   * Deletes events that were delivered or given up before a date, and returns their number. If a
   * deleted event occurs again, it is recorded again.
   */
  purge(before: Date): Promise<number>
  /** Adds a consumer of events. Called while billing is being created. */
  addConsumer(consumer: EventConsumer): void
  /**
   * Sets the function that records events caused by the passing of time, such as the end of a
   * trial. The function is called once an hour.
   */
  setTimedEvents(look: () => Promise<void>): void
  find(eventId: string): Promise<AnyBillingEvent | null>
  /** Finds the event of this type and subject. `null` if none was recorded. */
  findAbout<Type extends BillingEventType>(
    type: Type,
    subject: string,
  ): Promise<BillingEvent<Type> | null>
  /**
   * Whether any consumer wants events of this type. If not, callers can skip requests that are only
   * needed for the event.
   */
  isWanted(type: BillingEventType): boolean
  /** Records an event. A repeat with the same type and subject is ignored. */
  record(tx: Database, event: NewBillingEvent): Promise<void>
  /**
   * Starts delivering the recorded events. Call it after the transaction that recorded them was
   * committed.
   */
  committed(): void
  stop(): Promise<void>
}

export function createEventStream(events: EventRepository, settings: WorkerSettings): EventStream {
  const consumers: EventConsumer[] = []
  const wanting = (type: BillingEventType) => consumers.filter((each) => each.wants(type))
  const isWanted = (type: BillingEventType) => wanting(type).length > 0
  let wanted = events.dueOf([])
  let worker: QueueWorker | null = null
  let isRecorded = false
  let look: () => Promise<void> = async () => undefined

  const find = async (eventId: string) => {
    const found = await events.find(eventId)
    return found && read(found)
  }

  return {
    addConsumer(consumer) {
      consumers.push(consumer)
      wanted = events.dueOf(billingEventTypes.filter(isWanted))
      worker ??= createWorker(settings, {
        what: 'event',
        hourly: async () => look(),
        // Only events that this process has consumers for: other processes may have others.
        queue: { ...events, listDue: (at, limit) => wanted.listDue(at, limit) },
        work: (stored) => deliverToAll(wanting(stored.type as BillingEventType), read(stored)),
        nameOf: ({ type, eventId }) => `${type} (${eventId})`,
      })
    },
    setTimedEvents(given) {
      look = given
    },
    find,
    findAbout: async <Type extends BillingEventType>(type: Type, subject: string) =>
      (await find(deriveEventId({ type, subject }))) as BillingEvent<Type> | null,
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
      const told = await purgeInBatches((limit) => events.purge('done', before, limit))
      return told + (await purgeInBatches((limit) => events.purge('dead', before, limit)))
    },
    stop: async () => worker?.stop(),
  }
}

/** Delivers an event to every consumer, even if some fail. Throws the first failure afterwards. */
async function deliverToAll(
  consumers: readonly EventConsumer[],
  event: AnyBillingEvent,
): Promise<void> {
  const told = await Promise.allSettled(consumers.map(async (each) => each.handle(event)))
  for (const outcome of told) if (outcome.status === 'rejected') throw outcome.reason
}

function read({ eventId: id, type, createdAt, owner, payload }: StoredEvent): AnyBillingEvent {
  // `record()` wrote the payload from a typed event.
  return { id, type, createdAt, owner, ...JSON.parse(payload) } as AnyBillingEvent
}

/** Makes an event consumer that calls the application's own listeners. */
export function createListenerConsumer(on: EventListeners): EventConsumer {
  const find = (type: BillingEventType) => (Object.hasOwn(on, type) ? on[type] : undefined)
  return {
    wants: (type) => find(type) !== undefined,
    async handle(event) {
      const listen = find(event.type) as ((event: AnyBillingEvent) => unknown) | undefined
      await listen?.(event)
    },
  }
}

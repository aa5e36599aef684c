import { createHash } from 'node:crypto'
import { type Database, insertIfAbsent } from '@tollgate/database'
import type { Owner } from '../values/owner.ts'
import type { OwnerIdTypes } from './owner-columns.ts'
import { createQueue, createQueueEntry, type QueueEntry, type WorkQueue } from './queue.ts'
import { eventTable, type QueueState } from './queue-tables.ts'

/** A billing event in the outbox. */
export interface StoredEvent extends QueueEntry<QueueState> {
  /** Id of the event, identical for every listener and every attempt. */
  readonly eventId: string
  /** The event type, such as `subscription.ended`. */
  readonly type: string
  /** The object that the event is about. Type and subject together identify an event. */
  readonly subject: string
  /** The owner that the event concerns. */
  readonly owner: Owner
  /** The event's data, as JSON. */
  readonly payload: string
}

type EventRecord = ReturnType<typeof eventTable.fromRow>

export type NewEvent = Pick<StoredEvent, 'owner' | 'type' | 'subject' | 'payload'>

/** The queue of billing events, in the order in which they were recorded. */
export interface EventRepository extends WorkQueue<StoredEvent, QueueState> {
  /**
   * Adds an event, in the transaction that writes the row which the event describes. Returns
   * `false` if the event was recorded before.
   */
  add(event: NewEvent, at: Date, tx: Database): Promise<boolean>
  find(eventId: string): Promise<StoredEvent | null>
  /**
   * Returns the queue limited to these event types. Events of other types are left to processes
   * that have consumers for them.
   */
  dueOf(types: readonly string[]): Pick<EventRepository, 'listDue'>
}

const newEvent = eventTable.omit('id')

/**
 * Derives the id of an event, so that the same event detected twice, in different ways, is recorded
 * once.
 */
export function deriveEventId({ type, subject }: Pick<NewEvent, 'type' | 'subject'>): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([type, subject]))
    .digest('hex')
  return `evt_${digest.slice(0, 40)}`
}

export function createEventRepository(database: Database, types: OwnerIdTypes): EventRepository {
  const read = ({ ownerType: type, ownerId, ...event }: EventRecord): StoredEvent => ({
    ...event,
    owner: { type, id: types.get(type)?.idType === 'integer' ? Number(ownerId) : ownerId },
  })
  const { claim, list, ...queue } = createQueue(database, eventTable, { givenUp: 'dead' })
  return {
    ...queue,
    async claim(id, at, until) {
      const event = await claim(id, at, until)
      return event && read(event)
    },
    list: async (state, limit) => (await list(state, limit)).map(read),
    dueOf: (type) =>
      type.length > 0
        ? createQueue(database, eventTable, { givenUp: 'dead', within: { type } })
        : { listDue: async () => [] },
    add: ({ owner, ...event }, at, tx) =>
      insertIfAbsent(
        tx,
        'billing_events',
        newEvent.toRow({
          ...event,
          ownerType: owner.type,
          ownerId: String(owner.id),
          eventId: deriveEventId(event),
          ...createQueueEntry(at),
        }),
      ),
    async find(eventId) {
      const row = await database.kysely
        .selectFrom('billing_events')
        .selectAll()
        .where('event_id', '=', eventId)
        .executeTakeFirst()
      return row ? read(eventTable.fromRow(row as ReturnType<typeof eventTable.toRow>)) : null
    },
  }
}

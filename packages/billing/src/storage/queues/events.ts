import { createHash } from 'node:crypto'
import { type Database, insertIfAbsent } from '@tollgate/database'
import type { Owner } from '../../values/owner.ts'
import type { OwnerIdTypes } from '../owner-columns.ts'
import { createQueue, type Queue } from './queue.ts'
import { eventTable, type QueueState } from './tables.ts'

/** An event of ours, as it waits to be told. */
export interface StoredEvent {
  /** Counts upwards. */
  readonly id: number
  /** The same for whoever is told, however often. */
  readonly eventId: string
  /** Such as `subscription.ended`. */
  readonly type: string
  /** What it is about: of each type there is one event with this subject. */
  readonly subject: string
  /** Whom it concerns. */
  readonly owner: Owner
  /** What it says, as JSON. */
  readonly payload: string
  /** What became of it. */
  readonly state: QueueState
  /** How often it was tried. */
  readonly attempts: number
  /** When it is tried next. */
  readonly dueAt: Date
  /** Why the last attempt failed; null when none has. */
  readonly lastError: string | null
  /** When it was written down. */
  readonly createdAt: Date
  /** When it was told; null while it waits. */
  readonly finishedAt: Date | null
}

type EventRecord = ReturnType<typeof eventTable.fromRow>

export interface NewEvent {
  readonly owner: Owner
  readonly type: string
  /** What it is about: of each type there is one event with this subject. */
  readonly subject: string
  readonly payload: string
}

/** What happened, in the order in which it was written. */
export interface EventRepository extends Queue<StoredEvent, QueueState> {
  /** In the transaction of the row that it tells of. False when it was told before. */
  add(event: NewEvent, at: Date, tx: Database): Promise<boolean>
  find(eventId: string): Promise<StoredEvent | null>
  /** Those of these types that are due: another process may want the others. */
  dueOf(types: readonly string[]): Pick<EventRepository, 'listDue'>
}

const newEvent = eventTable.omit('id')

/** Whoever tells of the same thing again, by another way, tells of the same event. */
export function eventIdOf({ type, subject }: Pick<NewEvent, 'type' | 'subject'>): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([type, subject]))
    .digest('hex')
  return `evt_${digest.slice(0, 40)}`
}

export function eventRepository(database: Database, types: OwnerIdTypes): EventRepository {
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
          eventId: eventIdOf(event),
          state: 'pending',
          attempts: 0,
          dueAt: at,
          lastError: null,
          createdAt: at,
          finishedAt: null,
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

import { type Database, deleteBatch, insertIfAbsent } from '@tollgate/database'
import {
  createQueue,
  createQueueEntry,
  type QueueEntry,
  type WorkQueue,
} from '../../core/storage/queue.ts'
import { createQueuePages, type QueuePages } from '../../core/storage/queue-pages.ts'
import { deliveryTable, type QueueState } from '../../core/storage/queue-tables.ts'

/** State of a webhook delivery. `gone`: held back, because its endpoint responded with 410 Gone. */
export type DeliveryState = QueueState | 'gone'

/** A delivery of one event to one webhook endpoint, waiting or sent. */
export interface StoredDelivery extends QueueEntry<DeliveryState> {
  /** The name of the webhook endpoint. */
  readonly endpoint: string
  /** The id of the event, sent as `webhook-id`. */
  readonly eventId: string
  /** The type of the event, such as `subscription.ended`. */
  readonly type: string
  /** The signed body, which is the same for every attempt. */
  readonly payload: string
}

export type NewDelivery = Pick<
  StoredDelivery,
  'endpoint' | 'eventId' | 'type' | 'payload' | 'state'
>

export interface DeliveryRepository extends QueuePages<StoredDelivery, DeliveryState> {
  /** Returns the queue of one endpoint. */
  queueFor(endpoint: string): WorkQueue<StoredDelivery, DeliveryState>
  /**
   * Adds a delivery. Returns `false` if there is already a delivery of this event to the endpoint.
   */
  add(delivery: NewDelivery, at: Date): Promise<boolean>
  /** Whether deliveries to the endpoint are held back, because it responded with 410 Gone. */
  isHeldBack(endpoint: string): Promise<boolean>
  /**
   * Checks whether the endpoint of a delivery that was added in state `gone` is still held back. If
   * not, makes the delivery due.
   */
  confirmHold(
    delivery: Pick<NewDelivery, 'endpoint' | 'eventId'>,
    error: string,
    at: Date,
  ): Promise<void>
  /** Holds back all waiting deliveries of the endpoint, after it responded with 410 Gone. */
  holdBack(endpoint: string, error: string): Promise<void>
  /** Lists the deliveries in this state, newest first. */
  list(state: DeliveryState, limit: number): Promise<StoredDelivery[]>
  resend(id: number, at: Date): Promise<boolean>
  /**
   * Makes deliveries of the endpoint due if they were given up, or held back after a 410 Gone.
   * Returns their number.
   */
  resendAll(endpoint: string, at: Date): Promise<number>
  /**
   * Deletes up to `limit` deliveries that were finished before the given time, or that belong to
   * none of these endpoints. Returns their number. For each endpoint, keeps the newest of the
   * deliveries that were held back, because it marks the endpoint as held back.
   */
  purge(before: Date, endpoints: readonly string[], limit: number): Promise<number>
}

const TABLE = 'billing_deliveries'
const OVER: readonly DeliveryState[] = ['done', 'dead', 'gone']
const newDelivery = deliveryTable.omit('id')

export function createDeliveryRepository(database: Database): DeliveryRepository {
  const { kysely } = database
  const again = (at: Date) => ({
    state: 'pending',
    attempts: 0,
    due_at: at.getTime(),
    last_error: null,
    finished_at: null,
  })
  const ofEndpoint = (endpoint: string) =>
    kysely.updateTable(TABLE).where('endpoint', '=', endpoint)
  // A delivery without an error may have been added before everything was sent again, so it does
  // not mark the endpoint.
  const holding = () =>
    kysely.selectFrom(TABLE).where('state', '=', 'gone').where('last_error', 'is not', null)
  const isHeldBack = async (endpoint: string) => {
    const held = holding().select('id').where('endpoint', '=', endpoint)
    return (await held.limit(1).executeTakeFirst()) !== undefined
  }
  return {
    queueFor: (endpoint) =>
      createQueue(database, deliveryTable, { givenUp: 'dead', within: { endpoint } }),
    ...createQueuePages(database, deliveryTable),
    add: (delivery, at) =>
      insertIfAbsent(
        database,
        TABLE,
        newDelivery.toRow({
          ...createQueueEntry(at),
          ...delivery,
        }),
      ),
    isHeldBack,
    async confirmHold({ endpoint, eventId }, error, at) {
      const isHeld = await isHeldBack(endpoint)
      await ofEndpoint(endpoint)
        .set(isHeld ? { last_error: error } : again(at))
        .where('event_id', '=', eventId)
        .where('state', '=', 'gone')
        .where('last_error', 'is', null)
        .execute()
    },
    async holdBack(endpoint, error) {
      await ofEndpoint(endpoint)
        .set({ state: 'gone', last_error: error })
        .where('state', '=', 'pending')
        .execute()
    },
    async list(state, limit) {
      const rows = await kysely
        .selectFrom(TABLE)
        .selectAll()
        .where('state', '=', state)
        .orderBy('id', 'desc')
        .limit(limit)
        .execute()
      return rows.map((row) => deliveryTable.fromRow(row as RowOfDelivery))
    },
    async resend(id, at) {
      const { numUpdatedRows } = await kysely
        .updateTable(TABLE)
        .set(again(at))
        .where('id', '=', id)
        .executeTakeFirst()
      return Number(numUpdatedRows) > 0
    },
    async resendAll(endpoint, at) {
      const update = ofEndpoint(endpoint).set(again(at)).where('state', 'in', ['dead', 'gone'])
      const first = await update.executeTakeFirst()
      // Runs twice, for deliveries added during the first update. Those added later see that the
      // endpoint is not held back.
      const second = await update.executeTakeFirst()
      return Number(first.numUpdatedRows) + Number(second.numUpdatedRows)
    },
    async purge(before, endpoints, limit) {
      const newest = await holding()
        .select((eb) => eb.fn.max('id').as('id'))
        .groupBy('endpoint')
        .execute()
      const kept = newest.map(({ id }) => Number(id))
      return deleteBatch(database, {
        table: TABLE,
        key: 'id',
        where: (eb) =>
          eb.and([
            eb('due_at', '<', before.getTime()),
            eb.or([
              eb.and([
                eb('state', 'in', OVER),
                ...(kept.length > 0 ? [eb('id', 'not in', kept)] : []),
              ]),
              ...(endpoints.length > 0 ? [eb('endpoint', 'not in', endpoints)] : []),
            ]),
          ]),
        limit,
      })
    },
  }
}

type RowOfDelivery = ReturnType<typeof deliveryTable.toRow>

import { type Database, deleteBatch, insertIfAbsent } from '@tollgate/database'
import { createQueue, type Queue } from './queue.ts'
import { deliveryTable, type QueueState } from './tables.ts'

/** As other queues, and `gone`: held back, because the endpoint wants nothing any more. */
export type DeliveryState = QueueState | 'gone'

/** A webhook of ours that waits, or has gone out. */
export interface StoredDelivery {
  /** Counts upwards. */
  readonly id: number
  /** What the endpoint is called. */
  readonly endpoint: string
  /** Sent as `webhook-id`. */
  readonly eventId: string
  /** Such as `subscription.ended`. */
  readonly type: string
  /** The body as it is signed: the same with every attempt. */
  readonly payload: string
  /** What became of it. */
  readonly state: DeliveryState
  /** How often it was tried without success. */
  readonly attempts: number
  /** When it is tried next. */
  readonly dueAt: Date
  /** Why the last attempt failed; null when none has. */
  readonly lastError: string | null
  /** When it was put here. */
  readonly createdAt: Date
  /** When it was taken; null while it was not. */
  readonly finishedAt: Date | null
}

export type NewDelivery = Pick<
  StoredDelivery,
  'endpoint' | 'eventId' | 'type' | 'payload' | 'state'
>

export interface DeliveryRepository {
  /** What waits for one endpoint. */
  queueFor(endpoint: string): Queue<StoredDelivery, DeliveryState>
  /** False when the endpoint was told of the event before. */
  add(delivery: NewDelivery, at: Date): Promise<boolean>
  /** Whether it has answered that it wants nothing any more. */
  isHeldBack(endpoint: string): Promise<boolean>
  /** Of one that was added as `gone`: looks again, and makes it due if its endpoint is held back no longer. */
  confirmHold(
    delivery: Pick<NewDelivery, 'endpoint' | 'eventId'>,
    error: string,
    at: Date,
  ): Promise<void>
  /** All that waits for it. */
  holdBack(endpoint: string, error: string): Promise<void>
  find(id: number): Promise<StoredDelivery | null>
  /** Newest first. */
  list(state: DeliveryState, limit: number): Promise<StoredDelivery[]>
  resend(id: number, at: Date): Promise<boolean>
  /** What was given up or held back; says how many. */
  resendAll(endpoint: string, at: Date): Promise<number>
  /**
   * Deletes some that were over before then, or wait for none of these endpoints; says how many. One stays of what is held
   * back for each: it says that the endpoint wants nothing.
   */
  purge(before: Date, endpoints: readonly string[], limit: number): Promise<number>
}

const TABLE = 'billing_deliveries'
const OVER: readonly DeliveryState[] = ['done', 'dead', 'gone']
const newDelivery = deliveryTable.omit('id')

export function deliveryRepository(database: Database): DeliveryRepository {
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
  // One without an error was added by somebody who may have looked before all was sent again: it holds back nothing.
  const holding = () =>
    kysely.selectFrom(TABLE).where('state', '=', 'gone').where('last_error', 'is not', null)
  const isHeldBack = async (endpoint: string) => {
    const held = holding().select('id').where('endpoint', '=', endpoint)
    return (await held.limit(1).executeTakeFirst()) !== undefined
  }
  return {
    queueFor: (endpoint) =>
      createQueue(database, deliveryTable, { givenUp: 'dead', within: { endpoint } }),
    add: (delivery, at) =>
      insertIfAbsent(
        database,
        TABLE,
        newDelivery.toRow({
          ...delivery,
          attempts: 0,
          dueAt: at,
          lastError: null,
          createdAt: at,
          finishedAt: null,
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
    async find(id) {
      const row = await kysely.selectFrom(TABLE).selectAll().where('id', '=', id).executeTakeFirst()
      return row ? deliveryTable.fromRow(row as RowOfDelivery) : null
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
      // What was added while that ran it has not seen; whoever adds one from now on sees that nothing is held back.
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

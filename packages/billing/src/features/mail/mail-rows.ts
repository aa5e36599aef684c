import { type Database, insertIfAbsent } from '@tollgate/database'
import {
  createQueue,
  type Failure,
  newQueueEntry,
  type Queue,
  type QueueEntry,
} from '../../core/storage/queue.ts'
import { noticeTable } from '../../core/storage/queue-tables.ts'
import type { ProviderName } from '../../core/values/provider-name.ts'

/** State of queued mail. `sending`: it was passed to `send`, which has not returned yet. */
export type NoticeState = 'pending' | 'sending' | 'done' | 'dead'

/** Mail that is queued or was sent. */
export interface StoredNotice extends QueueEntry<NoticeState> {
  /** The provider of the event. */
  readonly provider: ProviderName
  /** The kind of mail, such as `receipt`. */
  readonly kind: string
  /** The subject of the mail, such as an invoice. There is one mail of each kind about it. */
  readonly subject: string
  /** The id of the event whose data the mail contains. */
  readonly eventId: string
}

export type NewNotice = Pick<StoredNotice, 'provider' | 'kind' | 'subject' | 'eventId'>

export interface NoticeRepository
  extends Pick<
    Queue<StoredNotice, NoticeState>,
    'listDue' | 'claim' | 'list' | 'purge' | 'finish'
  > {
  /**
   * Queues mail. Returns `false` if there is one of that kind about the same subject, so that it is
   * sent once.
   */
  add(notice: NewNotice, at: Date, tx: Database): Promise<boolean>
  /**
   * Marks mail as being sent. If the process crashes now, it stays `sending` and is not sent again.
   */
  beginSending(id: number): Promise<boolean>
  /** Records a failed attempt: it is retried later, or given up. */
  fail(id: number, failure: Failure): Promise<void>
  /**
   * Makes mail that was given up, or is marked `sending`, due again. Returns `false` if there is
   * none.
   */
  retry(id: number, at: Date): Promise<boolean>
}

const TABLE = 'billing_notices'
const newNotice = noticeTable.omit('id')

export function noticeRepository(database: Database): NoticeRepository {
  const queue = createQueue(database, noticeTable, { givenUp: 'dead' })
  const change = async (
    id: number,
    from: readonly NoticeState[],
    values: Readonly<Record<string, unknown>>,
  ) => {
    const { numUpdatedRows } = await database.kysely
      .updateTable(TABLE)
      .set(values)
      .where('id', '=', id)
      .where('state', 'in', from)
      .executeTakeFirst()
    return Number(numUpdatedRows) > 0
  }
  return {
    ...queue,
    add: (notice, at, tx) =>
      insertIfAbsent(
        tx,
        TABLE,
        newNotice.toRow({
          ...notice,
          ...newQueueEntry(at),
        }),
      ),
    beginSending: (id) => change(id, ['pending'], { state: 'sending' }),
    finish: (id, state, at) =>
      change(id, ['pending', 'sending'], { state, finished_at: at.getTime(), last_error: null }),
    async fail(id, { error, attempts, dueAt }) {
      const when =
        dueAt === null ? { state: 'dead' } : { state: 'pending', due_at: dueAt.getTime() }
      await change(id, ['pending', 'sending'], { attempts, last_error: error, ...when })
    },
    retry: (id, at) =>
      change(id, ['dead', 'sending'], { state: 'pending', attempts: 0, due_at: at.getTime() }),
  }
}

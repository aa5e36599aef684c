import { type Database, insertIfAbsent } from '@tollgate/database'
import {
  createQueue,
  createQueueEntry,
  type FailedAttempt,
  type QueueEntry,
  type WorkQueue,
} from '../../core/storage/queue.ts'
import { createQueuePages, type QueuePages } from '../../core/storage/queue-pages.ts'
import { noticeTable } from '../../core/storage/queue-tables.ts'
import type { ProviderName } from '../../core/values/provider-name.ts'

/**
 * State of mail in the queue. `pending`: not sent yet. `sending`: it was passed to the option
 * `send`, which has not returned yet. `done`: sent. `dead`: given up after all attempts.
 */
export type MailState = 'pending' | 'sending' | 'done' | 'dead'

/** Mail in the queue, sent or not. */
export interface QueuedMail extends QueueEntry<MailState> {
  /** The provider of the event that the mail is about. */
  readonly provider: ProviderName
  /** The kind of mail, such as `receipt`. */
  readonly kind: string
  /**
   * Key of the object that the mail is about, such as the id of an invoice. At most one mail of
   * each kind is sent about an object.
   */
  readonly subject: string
  /** The id of the billing event whose data the mail contains. */
  readonly eventId: string
}

export type NewMail = Pick<QueuedMail, 'provider' | 'kind' | 'subject' | 'eventId'>

export interface MailRepository
  extends Pick<WorkQueue<QueuedMail, MailState>, 'listDue' | 'claim' | 'list' | 'purge' | 'finish'>,
    QueuePages<QueuedMail, MailState> {
  /**
   * Queues mail. Returns `false` without queueing it if there is already mail of that kind about
   * the same object.
   */
  add(notice: NewMail, at: Date, tx: Database): Promise<boolean>
  /**
   * Marks mail as being sent. If the process then crashes, the mail stays in state `sending`, and
   * is not sent again automatically.
   */
  beginSending(id: number): Promise<boolean>
  /**
   * Records a failed attempt to send mail: it is retried later or, after the last attempt, given
   * up.
   */
  fail(id: number, failure: FailedAttempt): Promise<void>
  /**
   * Schedules another attempt for mail that was given up, or whose sending was interrupted. Returns
   * `false` if there is no mail with this id in one of these states.
   */
  retry(id: number, at: Date): Promise<boolean>
}

const TABLE = 'billing_notices'
const newNotice = noticeTable.omit('id')

export function createMailRepository(database: Database): MailRepository {
  const queue = createQueue(database, noticeTable, { givenUp: 'dead' })
  const change = async (
    id: number,
    from: readonly MailState[],
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
    ...createQueuePages(database, noticeTable),
    add: (notice, at, tx) =>
      insertIfAbsent(
        tx,
        TABLE,
        newNotice.toRow({
          ...notice,
          ...createQueueEntry(at),
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

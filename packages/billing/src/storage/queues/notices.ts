import { type Database, insertIfAbsent } from '@tollgate/database'
import type { ProviderName } from '../../provider-name.ts'
import { createQueue, type Failure, type Queue } from './queue.ts'
import { noticeTable } from './tables.ts'

/** As other queues, and `sending`: it was handed over, and nobody has said yet whether it arrived. */
export type NoticeState = 'pending' | 'sending' | 'done' | 'dead'

/** A mail that waits, or has gone out. */
export interface StoredNotice {
  /** Counts upwards. */
  readonly id: number
  /** Where it happened. */
  readonly provider: ProviderName
  /** Such as `receipt`. */
  readonly kind: string
  /** What it is about: of each kind there is one mail about it. */
  readonly subject: string
  /** The event that has what the mail says. */
  readonly eventId: string
  /** What became of it. */
  readonly state: NoticeState
  /** How often it was tried. */
  readonly attempts: number
  /** When it is tried next. */
  readonly dueAt: Date
  /** Why the last attempt failed; null when none has. */
  readonly lastError: string | null
  /** When it was put here. */
  readonly createdAt: Date
  /** When it was sent; null while it waits. */
  readonly finishedAt: Date | null
}

export type NewNotice = Pick<StoredNotice, 'provider' | 'kind' | 'subject' | 'eventId'>

export interface NoticeRepository
  extends Pick<
    Queue<StoredNotice, NoticeState>,
    'listDue' | 'claim' | 'list' | 'purge' | 'finish'
  > {
  /** False when there is one of that kind about it: nobody gets the same mail twice. */
  add(notice: NewNotice, at: Date, tx: Database): Promise<boolean>
  /** It is handed over now: whoever dies meanwhile leaves it `sending`, and nobody sends it again. */
  beginSending(id: number): Promise<boolean>
  /** It was not sent: it is tried again later, or given up. */
  fail(id: number, failure: Failure): Promise<void>
  /** Makes one due again that was given up, or of which nobody knows; false when there is none. */
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
          state: 'pending',
          attempts: 0,
          dueAt: at,
          lastError: null,
          createdAt: at,
          finishedAt: null,
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

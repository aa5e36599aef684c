import {
  type Database,
  type DefinedTable,
  deleteBatch,
  type RecordOf,
  type RowOf,
} from '@tollgate/database'
import type { RawBuilder } from 'kysely'

export interface FailedAttempt {
  readonly error: string
  /** Number of attempts that were made so far. */
  readonly attempts: number
  /** When to try again. `null` if the entry is to be given up. */
  readonly dueAt: Date | null
}

/** An entry of a queue in the database, whatever the queue contains. */
export interface QueueEntry<State extends string> {
  /** Primary key of the row. Later entries have larger keys. */
  readonly id: number
  /** State of the entry. */
  readonly state: State
  /** Number of attempts that were made so far. */
  readonly attempts: number
  /** When the next attempt is due. */
  readonly dueAt: Date
  /** Error of the last attempt. `null` if none failed. */
  readonly lastError: string | null
  /** When the entry was added. */
  readonly createdAt: Date
  /** When the entry was finished. `null` while it is pending. */
  readonly finishedAt: Date | null
}

/** Returns the initial values of a new entry that is due immediately. */
export function createQueueEntry(at: Date): Omit<QueueEntry<'pending'>, 'id'> {
  const untried = { attempts: 0, lastError: null, finishedAt: null }
  return { state: 'pending', ...untried, dueAt: at, createdAt: at }
}

/**
 * A queue in a database table, shared by all processes. Entries are processed at least once, and by
 * one process at a time.
 */
export interface WorkQueue<Entry, State extends string> {
  /** Lists the ids of due entries, oldest first. */
  listDue(at: Date, limit: number): Promise<number[]>
  /**
   * Claims an entry for this process until the date `until`. Returns `null` if another process has
   * claimed the entry, or if it is finished.
   */
  claim(id: number, at: Date, until: Date): Promise<Entry | null>
  /**
   * Marks an entry as finished with this state. Returns `false` if the entry was finished before.
   */
  finish(id: number, state: Exclude<State, 'pending'>, at: Date): Promise<boolean>
  /** Schedules the next attempt, or gives up. Does nothing if the entry is finished. */
  fail(id: number, failure: FailedAttempt): Promise<void>
  list(state: State, limit: number): Promise<Entry[]>
  /**
   * Schedules another attempt for an entry that was given up. Returns false if the entry does not
   * exist or was not given up.
   */
  retry(id: number, at: Date): Promise<boolean>
  /**
   * Deletes up to `limit` entries of this state that were last due before a date, and returns their
   * number.
   */
  purge(state: Exclude<State, 'pending'>, before: Date, limit: number): Promise<number>
}

const BATCH = 500

/**
 * Calls `purge` in batches until nothing is left, so that no statement affects many rows. Returns
 * the number of deleted rows.
 */
export async function purgeInBatches(purge: (limit: number) => Promise<number>): Promise<number> {
  for (let deleted = 0; ; ) {
    const count = await purge(BATCH)
    deleted += count
    if (count < BATCH) return deleted
  }
}

/** The possible values of a table's column `state`. */
type StatesOfTable<F> =
  RecordOf<F> extends { readonly state: infer State extends string } ? State : never

export interface QueueOptions<State extends string> {
  /** The state of entries that were given up. */
  readonly givenUp: Exclude<State, 'pending'>
  /**
   * Column values that limit the queue to some rows of its table, if several queues share the
   * table.
   */
  readonly within?: Readonly<Record<string, string | readonly string[]>>
  /** Further columns to write when an entry is claimed. */
  readonly claimed?: (at: RawBuilder<number>) => Readonly<Record<string, RawBuilder<unknown>>>
}

const PENDING = 'pending'

export function createQueue<F>(
  database: Database,
  table: DefinedTable<F>,
  { givenUp, within = {}, claimed = () => ({}) }: QueueOptions<StatesOfTable<F>>,
): WorkQueue<RecordOf<F>, StatesOfTable<F>> {
  const { name } = table
  const isWithin = Object.entries(within).map(
    ([column, value]) => [column, typeof value === 'string' ? [value] : [...value]] as const,
  )
  const due = database.statement<{ at: number; limit: number }, { id: number }>((db, param) => {
    let query = db.selectFrom(name).select('id').where('state', '=', PENDING)
    for (const [column, values] of isWithin) query = query.where(column, 'in', values)
    return query
      .where('due_at', '<=', param('at'))
      .orderBy('due_at')
      .orderBy('id')
      .limit(param('limit') as never)
  })
  const claim = database.updateOneReturning<{ id: number; at: number; until: number }, RowOf<F>>({
    table: name,
    key: (param) => ({ id: param('id') }),
    where: (eb, param) => eb.and([eb('state', '=', PENDING), eb('due_at', '<=', param('at'))]),
    set: (param) => ({ due_at: param('until'), ...claimed(param('at')) }),
    returning: table.columns,
  })
  const change = async (id: number, from: string, values: Readonly<Record<string, unknown>>) => {
    const { numUpdatedRows } = await database.kysely
      .updateTable(name)
      .set(values)
      .where('id', '=', id)
      .where('state', '=', from)
      .executeTakeFirst()
    return Number(numUpdatedRows) > 0
  }
  return {
    listDue: async (at, limit) =>
      (await due({ at: at.getTime(), limit })).rows.map(({ id }) => Number(id)),
    async claim(id, at, until) {
      const row = await claim({ id, at: at.getTime(), until: until.getTime() })
      return row ? table.fromRow(row) : null
    },
    finish: (id, state, at) =>
      change(id, PENDING, { state, finished_at: at.getTime(), last_error: null }),
    async fail(id, { error, attempts, dueAt }) {
      const when = dueAt === null ? { state: givenUp } : { due_at: dueAt.getTime() }
      await change(id, PENDING, { attempts, last_error: error, ...when })
    },
    async list(state, limit) {
      let query = database.kysely.selectFrom(name).selectAll().where('state', '=', state)
      for (const [column, values] of isWithin) query = query.where(column, 'in', values)
      const rows = await query.orderBy('due_at').orderBy('id').limit(limit).execute()
      return rows.map((row) => table.fromRow(row as RowOf<F>))
    },
    retry: (id, at) =>
      change(id, givenUp, { state: PENDING, attempts: 0, due_at: at.getTime(), finished_at: null }),
    purge: (state, before, limit) =>
      deleteBatch(database, {
        table: name,
        key: 'id',
        where: (eb) =>
          eb.and([
            ...isWithin.map(([column, values]) => eb(column, 'in', values)),
            eb('state', '=', state),
            eb('due_at', '<', before.getTime()),
          ]),
        limit,
      }),
  }
}

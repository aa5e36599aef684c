import {
  type Database,
  type DefinedTable,
  deleteBatch,
  type RecordOf,
  type RowOf,
} from '@tollgate/database'
import type { RawBuilder } from 'kysely'

export interface Failure {
  readonly error: string
  /** How often it was tried by now. */
  readonly attempts: number
  /** When it is tried again; null to give up. */
  readonly dueAt: Date | null
}

/** Rows that wait for their turn, in any process. They are worked on at least once, by one at a time. */
export interface Queue<Entry, State extends string> {
  /** Those that are due, oldest first. */
  listDue(at: Date, limit: number): Promise<number[]>
  /** Takes one to work on, for as long as `until`; null when someone else has it or it is over. */
  claim(id: number, at: Date, until: Date): Promise<Entry | null>
  /** It is over, like this. False when it was over before, in whatever way. */
  finish(id: number, state: Exclude<State, 'pending'>, at: Date): Promise<boolean>
  /** It is tried again later, or given up. Changes nothing when it was over before. */
  fail(id: number, failure: Failure): Promise<void>
  list(state: State, limit: number): Promise<Entry[]>
  /** Makes one due again that was given up; false when there is none. */
  retry(id: number, at: Date): Promise<boolean>
  /** Deletes some that are over in this way since before then; says how many. */
  purge(state: Exclude<State, 'pending'>, before: Date, limit: number): Promise<number>
}

const BATCH = 500

/** All that a purge finds, in batches: no statement holds many rows. Says how many. */
export async function purgeAll(purge: (limit: number) => Promise<number>): Promise<number> {
  for (let deleted = 0; ; ) {
    const count = await purge(BATCH)
    deleted += count
    if (count < BATCH) return deleted
  }
}

/** The words that the column `state` of a table may hold. */
type StateOf<F> = RecordOf<F> extends { readonly state: infer State extends string } ? State : never

export interface QueueOptions<State extends string> {
  /** The state of what was given up. */
  readonly givenUp: Exclude<State, 'pending'>
  /** Only the rows that have these values, or one of several: a queue within the table. */
  readonly within?: Readonly<Record<string, string | readonly string[]>>
  /** What else is written when somebody takes one, beside when another may. */
  readonly claimed?: (at: RawBuilder<number>) => Readonly<Record<string, RawBuilder<unknown>>>
}

const PENDING = 'pending'

export function createQueue<F>(
  database: Database,
  table: DefinedTable<F>,
  { givenUp, within = {}, claimed = () => ({}) }: QueueOptions<StateOf<F>>,
): Queue<RecordOf<F>, StateOf<F>> {
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

import type { Database, DefinedTable, RecordOf, RowOf } from '@tollgate/database'
import { requireCount } from '../values/arguments.ts'

/** Options for one page of the entries of a queue. */
export interface QueuePageOptions {
  /** Maximum number of entries. @default 100 */
  readonly limit?: number
  /** Continues after this entry, which is the last entry of the previous page. */
  readonly after?: { readonly id: number; readonly dueAt: Date }
}

/**
 * Reads the entries of a queue in pages. The time to read a page does not depend on the length of
 * the queue.
 */
export interface QueuePages<Entry, State extends string> {
  /** Lists one page of the entries in a state, sorted by due date, latest first. */
  page(state: State, options?: QueuePageOptions): Promise<Entry[]>
  /** Finds an entry. `null` if there is none. */
  find(id: number): Promise<Entry | null>
}

export function createQueuePages<F>(
  { kysely }: Database,
  table: DefinedTable<F>,
): QueuePages<RecordOf<F>, string> {
  const { name } = table
  const fromRow = (row: unknown) => table.fromRow(row as RowOf<F>)
  return {
    async page(state, { limit = 100, after } = {}) {
      let query = kysely.selectFrom(name).selectAll().where('state', '=', state)
      if (after) {
        const due = after.dueAt.getTime()
        query = query
          // Lets every database use the index for the first comparison.
          .where('due_at', '<=', due)
          .where((eb) => eb.or([eb('due_at', '<', due), eb('id', '<', after.id)]))
      }
      const ordered = query.orderBy('due_at', 'desc').orderBy('id', 'desc')
      return (await ordered.limit(requireCount(limit)).execute()).map(fromRow)
    },
    async find(id) {
      const row = await kysely.selectFrom(name).selectAll().where('id', '=', id).executeTakeFirst()
      return row ? fromRow(row) : null
    },
  }
}

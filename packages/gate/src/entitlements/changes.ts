import { type Database, databaseNow } from '@tollgate/database'
import { changeTable, type GateTables } from '../storage/tables.ts'

/** A change: the plan of this subject may differ from now on. */
export interface ChangeEntry {
  readonly id: number
  /** Key of the subject whose plan may have changed. */
  readonly subject: string
  readonly changedAt: Date
}

/**
 * A list of subjects whose plans may have changed. Every process reads the new entries regularly.
 */
export interface ChangeSource {
  /**
   * Reads up to `limit` entries whose id is `id` or higher, in ascending order. `now` is the
   * database's time.
   */
  readFrom(id: number, limit: number): Promise<{ entries: readonly ChangeEntry[]; now: Date }>
}

/** The gate's own list of changes: each override and each call of `refresh()` adds an entry. */
export interface Changes extends ChangeSource {
  add(subject: string, on?: Database): Promise<void>
  /**
   * Deletes the entries older than `before`, except the newest of them, because processes continue
   * to read from there. Returns the number of deleted entries.
   */
  purge(before: Date): Promise<number>
}

export function createChanges(connected: Database): Changes {
  const database: Database<GateTables> = connected
  return {
    async readFrom(id, limit) {
      const rows = await database.kysely
        .selectFrom('gate_changes')
        .select(['id', 'subject', 'changed_at'])
        .select(databaseNow(connected).as('now'))
        .where('id', '>=', id)
        .orderBy('id')
        .limit(limit)
        .execute()
      const now = rows[0]?.now ?? Date.now()
      return { entries: rows.map((row) => changeTable.fromRow(row)), now: new Date(Number(now)) }
    },
    async add(subject, on = connected) {
      await on.kysely
        .insertInto('gate_changes')
        .values({ subject, changed_at: databaseNow(connected) })
        .execute()
    },
    async purge(before) {
      const newest = await database.kysely
        .selectFrom('gate_changes')
        .select((eb) => eb.fn.max('id').as('id'))
        .where('changed_at', '<', before.getTime())
        .executeTakeFirst()
      if (!newest?.id) return 0
      const { numDeletedRows } = await database.kysely
        .deleteFrom('gate_changes')
        .where('id', '<', Number(newest.id))
        .where('changed_at', '<', before.getTime())
        .executeTakeFirst()
      return Number(numDeletedRows)
    },
  }
}

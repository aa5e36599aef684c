import { type Database, databaseNow } from '@tollgate/database'
import { changeTable, type GateTables } from '../storage/tables.ts'

/** An entry of a list of changes, in the order of its ids. */
export interface ChangeEntry {
  readonly id: number
  /** Key of the subject that changed. */
  readonly subject: string
  readonly changedAt: Date
}

/** A list of changes that processes follow. */
export interface ChangeSource {
  /** Reads up to `limit` entries from this id on, in order, with the database's time. */
  readFrom(id: number, limit: number): Promise<{ entries: readonly ChangeEntry[]; now: Date }>
}

/** The gate's own list: overrides, and calls of `refresh()`. */
export interface Changes extends ChangeSource {
  add(subject: string, on?: Database): Promise<void>
  /**
   * Deletes entries from before a moment, except the newest of them, from which processes go on
   * reading. Returns their number.
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

import { type Database, insertIfAbsent } from '@tollgate/database'
import { sql } from 'kysely'
import type { Owner } from '../values/owner.ts'
import type { codeAttemptTable } from './tables.ts'

/**
 * The maximum number of attempts to use a promotion code, and the time after which counting starts
 * again.
 */
export interface CodeAttemptLimit {
  readonly limit: number
  readonly at: Date
  readonly until: Date
}

/** Counts unusable promotion codes per owner, across all processes, to limit guessing. */
export interface CodeAttemptRepository {
  /**
   * Counts one more attempt of an owner. Returns `null` if the attempt is allowed, otherwise the
   * time from which the next attempt is allowed.
   */
  count(owner: Owner, limit: CodeAttemptLimit): Promise<Date | null>
  /**
   * Subtracts one attempt from an owner's count, because the code turned out to be usable or could
   * not be checked.
   */
  takeBack(owner: Owner, at: Date): Promise<void>
  /** Deletes the counts that have expired at the given time, and returns their number. */
  purge(at: Date): Promise<number>
}

type Row = ReturnType<typeof codeAttemptTable.toRow>

const table = 'billing_code_attempts'
const TRIES = 5

export function createCodeAttemptRepository(database: Database): CodeAttemptRepository {
  type Change = { type: string; id: string; at: number; until: number; limit: number }
  const returning = ['attempts'] as const
  const increase = database.updateOneReturning<Change, Row>({
    table,
    key: (param) => ({ owner_type: param('type'), owner_id: param('id') }),
    where: (eb, param) =>
      eb.and([eb('expires_at', '>', param('at')), eb('attempts', '<', param('limit'))]),
    set: () => ({ attempts: sql`${sql.ref('attempts')} + 1` }),
    returning,
  })
  const begin = database.updateOneReturning<Change, Row>({
    table,
    key: (param) => ({ owner_type: param('type'), owner_id: param('id') }),
    where: (eb, param) => eb('expires_at', '<=', param('at')),
    set: (param) => ({ attempts: 1, expires_at: param('until') }),
    returning,
  })
  const full = database.statement<Change, Row>((db, param) =>
    db
      .selectFrom(table)
      .selectAll()
      .where('owner_type', '=', param('type'))
      .where('owner_id', '=', param('id'))
      .where('expires_at', '>', param('at'))
      .where('attempts', '>=', param('limit')),
  )
  return {
    async count({ type, id }, { limit, at, until }) {
      const owner = { type, id: String(id) }
      const change = { ...owner, at: at.getTime(), until: until.getTime(), limit }
      for (let tries = 0; tries < TRIES; tries++) {
        if ((await increase(change)) ?? (await begin(change))) return null
        const [row] = (await full(change)).rows
        if (row) return new Date(row.expires_at)
        const fresh: Row = {
          owner_type: type,
          owner_id: owner.id,
          attempts: 1,
          expires_at: change.until,
        }
        if (await insertIfAbsent(database, table, { ...fresh })) return null
      }
      throw new Error('The count of attempts was changed concurrently five times in a row')
    },
    async takeBack({ type, id }, at) {
      await database.kysely
        .updateTable(table)
        .set({ attempts: sql`${sql.ref('attempts')} - 1` })
        .where('owner_type', '=', type)
        .where('owner_id', '=', String(id))
        .where('expires_at', '>', at.getTime())
        .where('attempts', '>', 0)
        .execute()
    },
    async purge(at) {
      const { numDeletedRows } = await database.kysely
        .deleteFrom(table)
        .where('expires_at', '<=', at.getTime())
        .executeTakeFirst()
      return Number(numDeletedRows)
    },
  }
}

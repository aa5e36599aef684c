import { sql } from 'kysely'
import type { AnyKysely } from '../dialect.ts'

/**
 * SQL condition on a server variable. Its value is a number, or a name in versions where it has
 * more than two values.
 */
const isOn = (name: string) => `cast(@@global.${name} as char) not in ('0', 'OFF')`

/**
 * SQL expression for the reason why this server is not the primary, or `null`. On MySQL
 * `super_read_only` implies `read_only`; readers of Aurora have `innodb_read_only` set. A replica
 * that accepts writes cannot be detected this way.
 */
export const NOT_PRIMARY_REASON_SQL = `case
  when ${isOn('read_only')} then 'is read-only (read_only)'
  when ${isOn('innodb_read_only')} then 'is read-only (innodb_read_only)'
end`

const SYNTAX_ERROR = 1064
const NEEDS_PRIVILEGE = 1227

/** Statements that list replication sources on MariaDB, MySQL since 8.0.22, and older MySQL. */
const SHOW_SOURCES = ['show all slaves status', 'show replica status', 'show slave status']

export async function isReplica(db: AnyKysely): Promise<boolean | null> {
  for (const show of SHOW_SOURCES) {
    try {
      const { rows } = await sql.raw(show).execute(db)
      return rows.length > 0
    } catch (error) {
      const { errno } = error as { errno?: unknown }
      if (errno === NEEDS_PRIVILEGE) return null
      if (errno !== SYNTAX_ERROR) throw error
    }
  }
  return null
}

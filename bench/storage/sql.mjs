import Database from 'libsql'
import pg from 'pg'

/**
 * The plain SQL that the limit and the peers' adapters share: prepared statements, `$1` parameters,
 * Postgres through `pg`, SQLite through `libsql`.
 * @typedef {{ dialect: 'postgres' | 'sqlite',
 *   query(text: string, values?: unknown[]): Promise<Record<string, any>[]>,
 *   execute(script: string): Promise<void> }} Sql
 */

/** Largest number of connections of a server. The default of `pg`, and equal for every subject. */
export const poolSize = 10

/**
 * @param {'postgres' | 'sqlite'} store
 * @param {string} databaseUrl
 * @returns {Sql}
 */
export function openSql(store, databaseUrl) {
  return store === 'postgres' ? openPostgres(databaseUrl) : openSqlite(databaseUrl)
}

function openPostgres(connectionString) {
  const pool = new pg.Pool({ connectionString, max: poolSize })
  const names = new Map()
  return {
    dialect: 'postgres',
    async query(text, values = []) {
      let name = names.get(text)
      if (!name) {
        name = `s${names.size}`
        names.set(text, name)
      }
      return (await pool.query({ name, text, values })).rows
    },
    async execute(script) {
      await pool.query(script)
    },
  }
}

function openSqlite(databaseUrl) {
  const database = openSqliteFile(databaseUrl)
  const prepared = new Map()
  return {
    dialect: 'sqlite',
    async query(text, values = []) {
      let statement = prepared.get(text)
      if (!statement) {
        statement = database.prepare(text.replace(/\$(\d+)/g, '?$1'))
        prepared.set(text, statement)
      }
      if (statement.reader) return statement.all(values)
      statement.run(values)
      return []
    },
    async execute(script) {
      database.exec(script)
    },
  }
}

const FULL = 2

/**
 * Opens SQLite with the durability of Postgres's defaults: a commit is on disk before it is
 * acknowledged.
 */
export function openSqliteFile(databaseUrl) {
  const database = new Database(databaseUrl.slice('file:'.length))
  database.pragma('journal_mode = WAL')
  database.pragma('synchronous = FULL')
  database.pragma('foreign_keys = ON')
  const [{ synchronous }] = database.pragma('synchronous')
  if (synchronous !== FULL) throw new Error(`SQLite has synchronous=${synchronous}`)
  return database
}

import { existsSync } from 'node:fs'
import type { EngineOptions } from '../../engine.ts'
import { SqliteConnection, type SqliteDriver } from './connection.ts'
import { SqliteFile } from './file.ts'
import { SqliteMarker } from './marker.ts'
import { SqliteReader } from './reader.ts'
import { retryWhileLocked } from './until-free.ts'
import { SqliteWriter } from './writer.ts'

/** An open database, in a file or in memory. */
export interface SqliteStore {
  readonly writer: SqliteWriter
  /**
   * The connection for reads. `null` for a database in memory, because a second connection could
   * not see its data.
   */
  readonly reader: SqliteReader | null
  /** Throws if the file was removed or replaced. */
  requireUnchanged(): void
  /**
   * Called after each commit: records beside the file, once, that the database has been created.
   * Never rejects.
   */
  committed(): Promise<void>
}

export function openMemoryStore(driver: SqliteDriver): SqliteStore {
  const connect = () => {
    const connection = new SqliteConnection(':memory:', driver)
    connection.exec('pragma foreign_keys = on')
    return connection
  }
  return {
    writer: new SqliteWriter({
      connection: connect(),
      reconnect: refuseAnother,
      waitsForDisk: false,
    }),
    reader: null,
    requireUnchanged() {},
    async committed() {},
  }
}

/**
 * Fails instead of reconnecting: a database in memory is lost with its connection, and an empty one
 * must not replace it.
 */
function refuseAnother(): never {
  throw new Error('The in-memory database was lost; restart the process')
}

/**
 * `cache_spill = off` keeps a transaction in memory until it is committed, so that only the commit
 * waits for the disk.
 */
const WRITING = 'pragma synchronous = full; pragma foreign_keys = on; pragma cache_spill = off'
const READING = 'pragma query_only = on'

export async function openFileStore(
  path: string,
  { timeout, beginAnew }: EngineOptions,
  driver: SqliteDriver,
): Promise<SqliteStore> {
  const file = new SqliteFile(path)
  const marker = new SqliteMarker(path)
  // Read before the database is opened: meanwhile another process may create its first table.
  const refusesEmpty = marker.exists && !beginAnew
  if (!existsSync(path)) {
    if (refusesEmpty) throw marker.refuse('missing')
    file.create()
  }
  const connect = (pragmas: string) => {
    file.requireUnchanged()
    const connection = new SqliteConnection(file.address, driver)
    try {
      connection.exec(pragmas)
    } catch (error) {
      connection.close()
      throw error
    }
    return connection
  }
  // The first process locks the file briefly to create its write-ahead log.
  const connection = await retryWhileLocked(() => connect(WRITING), timeout)
  const reader = new SqliteReader(() => connect(READING))
  const hasTables = async () => {
    const query = { sql: 'select 1 from sqlite_schema limit 1', readOnly: true }
    return (await reader.run(query, [], timeout)).rows.length > 0
  }
  try {
    await retryWhileLocked(() => connection.exec('pragma journal_mode = wal'), timeout)
    await retryWhileLocked(() => requireWal(connection, path), timeout)
    // This also creates the write-ahead log, if there was none.
    const isEmpty = !(await hasTables())
    if (isEmpty && refusesEmpty) throw marker.refuse('empty')
    file.remember()
  } catch (error) {
    reader.close()
    connection.close()
    throw error
  }

  let marked = false
  /**
   * Writes the marker file. A failure is ignored, because the data is committed: the next commit or
   * the next start tries again.
   */
  async function mark(): Promise<void> {
    if (marked) return
    try {
      if (!(await hasTables())) return
      if (!marker.exists) marker.write()
      marked = true
    } catch {}
  }
  await mark()
  return {
    writer: new SqliteWriter({ connection, reconnect: () => connect(WRITING), waitsForDisk: true }),
    reader,
    requireUnchanged: () => file.requireUnchanged(),
    committed: mark,
  }
}

function requireWal(connection: SqliteConnection, path: string): void {
  const [row] = connection.run({ sql: 'pragma journal_mode', readOnly: true }, []).rows
  const mode = (row as { journal_mode?: unknown } | undefined)?.journal_mode
  if (mode === 'wal') return
  throw new Error(
    `SQLite cannot use a write-ahead log for the file ${path}; put it on a local disk`,
  )
}

import { createBatcher } from '../../batching/batcher.ts'
import { hasErrorKind, UNAVAILABLE_ERROR_KINDS } from '../../errors.ts'
import { DatabaseMutex } from '../../statements/mutex.ts'
import type { Engine, EngineOptions, Query, QueryResult } from '../engine.ts'
import { batching } from './batching.ts'
import { findSqliteErrorKind } from './errors.ts'
import { createSqliteSession } from './session.ts'
import { importSqlite } from './storage/connection.ts'
import { openFileStore, openMemoryStore } from './storage/store.ts'
import { IN_MEMORY } from './url.ts'

interface Write {
  readonly query: Query
  readonly values: readonly unknown[]
}

const WAIT_TO_CLOSE = 30_000
/** SQLite statements that begin like this never write. */
const READS = /^\s*select\b/i
/** Statements that SQLite rejects or ignores inside a transaction. */
const OUTSIDE_TRANSACTION = /^\s*(?:pragma|vacuum|attach|detach)\b/i

/**
 * Opens SQLite through libsql. One connection writes, for one caller at a time; another one reads,
 * so that a long transaction blocks no reader. Waiting for another process or for the disk never
 * blocks Node's event loop.
 */
export async function openSqlite(path: string, options: EngineOptions): Promise<Engine> {
  const { timeout } = options
  const driver = await importSqlite()
  const store =
    path === IN_MEMORY ? openMemoryStore(driver) : await openFileStore(path, options, driver)
  const { writer, reader } = store
  const turn = new DatabaseMutex()
  const underWay = new Set<Promise<unknown>>()
  let closed = false

  const reserve = () => createSqliteSession(store, turn)

  async function inTransaction<R>(work: () => R): Promise<R> {
    const session = reserve()
    try {
      await session.begin(timeout)
      const result = work()
      await session.commit()
      return result
    } finally {
      await session.release(false)
    }
  }

  const write = createBatcher<Write, QueryResult>({
    patience: batching.patience,
    mayBeCommitted: (error) => hasErrorKind(error, UNAVAILABLE_ERROR_KINDS, findSqliteErrorKind),
    alone: ({ query, values }) => inTransaction(() => writer.run(query, values)),
    together: (writes) => inTransaction(() => writes.map(attempt)),
  })

  /**
   * Runs one write of a batch. On failure SQLite undoes only that statement, which is then retried
   * alone.
   */
  function attempt({ query, values }: Write): QueryResult | undefined {
    try {
      return writer.run(query, values)
    } catch (error) {
      if (writer.inTransaction && isStatementError(error)) return undefined
      throw error
    }
  }

  async function runAlone(query: Query, values: readonly unknown[]): Promise<QueryResult> {
    const leave = await turn.enter(timeout)
    try {
      store.requireUnchanged()
      return writer.run(query, values)
    } finally {
      writer.abandon()
      leave()
    }
  }

  async function run(query: Query, values: readonly unknown[]): Promise<QueryResult> {
    if (closed) throw new Error('The database connection is not open')
    if (query.readOnly || READS.test(query.sql)) {
      if (!reader) return inTransaction(() => writer.run(query, values))
      store.requireUnchanged()
      return reader.run(query, values, timeout)
    }
    if (OUTSIDE_TRANSACTION.test(query.sql)) return runAlone(query, values)
    const written = write({ query, values })
    underWay.add(written)
    return written.finally(() => underWay.delete(written))
  }

  return {
    exactText: '',
    run,
    async reserve() {
      if (closed) throw new Error('The database connection is not open')
      return reserve()
    },
    async close() {
      closed = true
      await Promise.allSettled(underWay)
      const leave = await turn.enter(WAIT_TO_CLOSE)
      try {
        store.requireUnchanged()
        await writer.checkpoint()
      } catch {
        // No failure here loses data: the log stays beside the file, and the next start reads it.
      }
      reader?.close()
      writer.close()
      leave()
    },
  }
}

/** Whether the error concerns this statement and its values, and not the database. */
function isStatementError(error: unknown): boolean {
  if (error instanceof TypeError) return true
  return (
    error instanceof Error &&
    'code' in error &&
    /^SQLITE_(CONSTRAINT|MISMATCH|TOOBIG)/.test(String(error.code))
  )
}

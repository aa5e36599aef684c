import { statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely'
import type { Engine, EngineOptions, Query, QueryResult, Session } from './engine.ts'
import { WaitedTooLong } from './errors.ts'
import { Mutex } from './mutex.ts'
import { SqliteConnection } from './sqlite-connection.ts'

const WAIT_TO_CLOSE = 30_000

/**
 * SQLite through libsql. One connection writes, one caller at a time; another one reads, so that a
 * long transaction stops no reader. Waiting for another process never blocks Node's event loop.
 */
export async function openSqlite(path: string, { timeout }: EngineOptions): Promise<Engine> {
  const inMemory = path === ':memory:'
  const writer = new SqliteConnection(path)
  if (!inMemory) await untilFree(() => writer.exec('pragma journal_mode = wal'), timeout)
  writer.exec('pragma synchronous = full; pragma foreign_keys = on')
  const reader = inMemory ? writer : new SqliteConnection(path)
  if (reader !== writer) reader.exec('pragma query_only = on')
  const turn = new Mutex()
  const inode = inMemory ? 0 : statSync(path).ino

  /** Rows written to a file that someone removed would be gone with the process. */
  function checkFileIsThere(): void {
    if (inMemory || statSync(path, { throwIfNoEntry: false })?.ino === inode) return
    throw Object.assign(new Error(`The SQLite file ${path} was moved or deleted while in use`), {
      code: 'TOLLGATE_FILE_GONE',
    })
  }

  async function run(query: Query, values: readonly unknown[]): Promise<QueryResult> {
    if (query.readOnly && reader !== writer) {
      return untilFree(() => reader.run(query, values), timeout)
    }
    if (turn.isFree) {
      checkFileIsThere()
      try {
        return writer.run(query, values)
      } catch (error) {
        if (!isBusy(error)) throw error
      }
    }
    const leave = await turn.enter(timeout)
    try {
      checkFileIsThere()
      return await untilFree(() => writer.run(query, values), timeout)
    } finally {
      leave()
    }
  }

  async function reserve(): Promise<Session> {
    let leave: (() => void) | undefined
    return {
      async begin(wait) {
        leave = await turn.enter(wait)
        checkFileIsThere()
        await untilFree(() => writer.exec('begin immediate'), wait)
      },
      run: async (query, values) => writer.run(query, values),
      commit: async () => untilFree(() => writer.exec('commit'), timeout),
      rollback: async () => {
        if (writer.inTransaction) writer.exec('rollback')
      },
      // The transaction itself is the lock: `begin immediate` admits one writer across all processes.
      lock: async () => {},
      async release() {
        // The one writer must never keep a transaction that nobody will end.
        if (leave && writer.inTransaction) writer.exec('rollback')
        leave?.()
      },
    }
  }

  return {
    dialect: 'sqlite',
    flavour: {
      createAdapter: () => new SqliteAdapter(),
      createQueryCompiler: () => new SqliteQueryCompiler(),
      createIntrospector: (db) => new SqliteIntrospector(db),
    },
    updatesReturnRows: true,
    ctesCanWrite: false,
    schemaChangesCommit: false,
    exactText: '',
    run,
    reserve,
    async close() {
      const leave = await turn.enter(WAIT_TO_CLOSE)
      if (reader !== writer) reader.close()
      writer.close()
      leave()
    },
  }
}

/** Tries again while another process holds the file, for at most `wait` milliseconds. */
async function untilFree<R>(attempt: () => R, wait: number): Promise<R> {
  const deadline = performance.now() + wait
  for (let pause = 1; ; pause = Math.min(pause * 2, 16)) {
    try {
      return attempt()
    } catch (error) {
      if (!isBusy(error)) throw error
      if (performance.now() > deadline) {
        throw new WaitedTooLong(`Waited ${wait} ms for another process using this SQLite file`, {
          cause: error,
        })
      }
    }
    await sleep(pause * (0.5 + Math.random()))
  }
}

function isBusy(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED')
}

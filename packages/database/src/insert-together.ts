import type { Database } from './database.ts'
import type { Dialect } from './engine.ts'
import { insertIfAbsent } from './portable-writes.ts'

type Row = Readonly<Record<string, unknown>>
type Insert = (row: Row) => Promise<boolean>

/** Rows in one commit: a transaction that goes on for long would keep other writers waiting. */
const AT_MOST = 200

/**
 * `insertIfAbsent()` for a table that many callers insert into at the same time. A row is durable when
 * its promise resolves, as ever, but those that came together share one commit.
 */
export function insertTogether(database: Database, table: string): Insert {
  return inserters[database.dialect](database, table)
}

/** Servers group the commits of their connections themselves; SQLite waits for the disk each time. */
const inserters: Record<Dialect, (database: Database, table: string) => Insert> = {
  sqlite: inOneCommit,
  postgres: eachAlone,
  mysql: eachAlone,
}

function eachAlone(database: Database, table: string): Insert {
  return (row) => insertIfAbsent(database, table, row)
}

interface Waiting {
  readonly row: Row
  resolve(isNew: boolean): void
  reject(error: unknown): void
}

function inOneCommit(database: Database, table: string): Insert {
  const alone = eachAlone(database, table)
  let waiting: Waiting[] = []
  let isWriting = false

  async function writeAll(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, AT_MOST)
      waiting = waiting.slice(AT_MOST)
      await write(batch)
    }
    isWriting = false
  }

  async function write(batch: readonly Waiting[]): Promise<void> {
    if (batch.length === 1) return writeAlone(batch)
    try {
      const added = await database.transaction(async (tx) => {
        const all: boolean[] = []
        for (const { row } of batch) all.push(await insertIfAbsent(tx, table, row))
        return all
      })
      for (const [index, { resolve }] of batch.entries()) resolve(added[index] ?? false)
    } catch {
      // One row that cannot be stored must not take the others with it.
      await writeAlone(batch)
    }
  }

  async function writeAlone(batch: readonly Waiting[]): Promise<void> {
    await Promise.all(batch.map(({ row, resolve, reject }) => alone(row).then(resolve, reject)))
  }

  return (row) =>
    new Promise((resolve, reject) => {
      waiting.push({ row, resolve, reject })
      if (isWriting) return
      isWriting = true
      // All that has arrived is read before the first write, which keeps the event loop waiting.
      setImmediate(() => void writeAll())
    })
}

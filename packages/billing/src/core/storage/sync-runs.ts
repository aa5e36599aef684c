import { randomBytes } from 'node:crypto'
import { type Database, upsert } from '@tollgate/database'
import { type SyncProgress, syncRunTable } from './tables.ts'

/** The stored progress of a `sync()` that has not finished. */
export interface SyncRun {
  readonly run: string
  readonly place: SyncProgress
  readonly startedAt: Date
}

/**
 * Stores the progress of the newest `sync()`, so that another process can continue after a crash.
 */
export interface SyncRunRepository {
  find(): Promise<SyncRun | null>
  /** Replaces the stored run with a new one. Returns its id. */
  begin(place: SyncProgress, at: Date): Promise<string>
  /** Stores the progress of a run. Does nothing if a newer run has begun. */
  save(run: string, place: SyncProgress): Promise<void>
  finish(run: string): Promise<void>
}

const TABLE = 'billing_sync_runs'
const NAME = 'sync'
const kept = syncRunTable.omit('name')
const place = syncRunTable.pick('place')

export function createSyncRunRepository(database: Database): SyncRunRepository {
  const { kysely } = database
  return {
    async find() {
      const row = await kysely
        .selectFrom(TABLE)
        .select(kept.columns)
        .where('name', '=', NAME)
        .executeTakeFirst()
      return row ? kept.fromRow(row as ReturnType<typeof kept.toRow>) : null
    },
    async begin(first, at) {
      const run = randomBytes(12).toString('hex')
      const row = syncRunTable.toRow({ name: NAME, run, place: first, startedAt: at })
      await upsert(database, TABLE, row, ['name'])
      return run
    },
    async save(run, next) {
      await kysely
        .updateTable(TABLE)
        .set(place.toRow({ place: next }))
        .where('run', '=', run)
        .execute()
    },
    async finish(run) {
      await kysely.deleteFrom(TABLE).where('run', '=', run).execute()
    },
  }
}

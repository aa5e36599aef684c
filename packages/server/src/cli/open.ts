import { type Database, migrate } from '@tollgate/database'
import { systemClock } from '@tollgate/oauth'
import type { Config } from '../config/environment.ts'
import { type Core, createCore, migrateCore, openDatabase } from '../core.ts'
import { createLogger } from '../http/logger.ts'
import { withProgress } from '../progress.ts'
import { serviceMigrations } from '../storage/migrations.ts'

/** Runs `work` on the database, which is brought up to date first and closed at the end. */
export async function withDatabase<T>(
  config: Config,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const database = await openDatabase(config)
  try {
    return await work(database)
  } finally {
    await database.close()
  }
}

/** The same with users, sessions, limits and the authorization server. */
export function withCore<T>(
  config: Config,
  work: (core: Core, database: Database) => Promise<T>,
): Promise<T> {
  return withDatabase(config, async (database) => {
    await withProgress('Bringing the database up to date', () => migrateCore(database))
    const core = createCore({
      config,
      database,
      // Commands neither sign nor serve anything by this address.
      url: config.url ?? 'http://localhost',
      clock: systemClock,
      logger: createLogger('warn', process.stderr),
      background: false,
    })
    try {
      return await work(core, database)
    } finally {
      core.oauth.close()
    }
  })
}

/** Only the service's own tables, for commands that need no secret. */
export function migrateOwn(database: Database): Promise<{ applied: string[] }> {
  return withProgress('Bringing the database up to date', () =>
    migrate(database, serviceMigrations),
  )
}

import { existsSync } from 'node:fs'
import { type Database, findDatabaseFile, migrate } from '@tollgate/database'
import type { Config } from '../config/config.ts'
import { type Core, createCore, migrateCore, openDatabase } from '../core.ts'
import { createLogger } from '../logger.ts'
import { withProgress } from '../progress.ts'
import {
  type FoundTables,
  findTables,
  refuseForeignTables,
  requireTables,
} from '../storage/found-tables.ts'
import { serviceMigrations } from '../storage/migrations.ts'
import { UsageError } from './command.ts'

/** Runs `work` on the database, which is closed at the end. */
export async function withDatabase<T>(
  config: Config,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  // A command ends soon, and its clock may be wrong: what it does is compared, and not recorded.
  const database = await openDatabase(config, { recordsTime: false })
  try {
    return await work(database)
  } finally {
    await database.close()
  }
}

/** Which database a command works on. */
interface CoreOptions {
  /** The command is about clients, tokens and keys, so it may also work on the database of an application. */
  readonly alsoInApplications?: boolean
  /** Makes the tables in a database that has none. */
  readonly makesTables?: boolean
}

/** Runs `work` with users, sessions, limits and the authorization server, on tables that it found and that are its own. */
export function withCore<T>(
  config: Config,
  work: (core: Core, database: Database, found: FoundTables) => Promise<T>,
  { alsoInApplications = false, makesTables = false }: CoreOptions = {},
): Promise<T> {
  return withDatabase(config, async (database) => {
    const found = await findTables(database)
    if (found === 'nothing' && !makesTables) await requireTables(database, ['service'])
    if (found === 'application' && alsoInApplications) await requireTables(database, ['oauth'])
    else await withProgress('Bringing the database up to date', () => migrateCore(database))
    const core = createCore({
      config,
      database,
      // Commands neither sign nor serve anything by this address.
      url: config.url ?? 'http://localhost',
      logger: createLogger('warn', process.stderr),
      background: false,
    })
    try {
      return await work(core, database, found)
    } finally {
      core.oauth.close()
    }
  })
}

/** For commands that only read: makes no file, no tables and no keys, and says what it found. */
export async function withTables<T>(
  config: Config,
  names: Parameters<typeof requireTables>[1],
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const file = findDatabaseFile(config.databaseUrl)
  if (file !== null && !existsSync(file)) {
    throw new UsageError(`There is no database at ${file}; is DATABASE_URL the right one?`)
  }
  return withDatabase(config, async (database) => {
    await requireTables(database, names)
    return work(database)
  })
}

/** Only the service's own tables, for commands that need no secret. */
export function migrateOwn(database: Database): Promise<{ applied: string[] }> {
  return withProgress('Bringing the database up to date', async () => {
    await refuseForeignTables(database)
    return migrate(database, serviceMigrations)
  })
}

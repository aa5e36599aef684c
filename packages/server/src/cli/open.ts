import { existsSync } from 'node:fs'
import { findDatabaseFile } from '@tollgate/database'
import type { Config } from '../config/config.ts'
import { type Core, createCore, migrateCore, openDatabase } from '../core.ts'
import { createLogger } from '../logger.ts'
import { withProgress } from '../progress.ts'
import { type FoundTables, findTables, requireTables } from '../storage/found-tables.ts'
import type { ServiceDatabase } from '../storage/tables.ts'
import type { CommandContext } from './command.ts'
import { UsageError } from './usage-error.ts'

/** Opens the database, runs `work` and closes the database. */
export async function withDatabase<T>(
  config: Config,
  work: (database: ServiceDatabase) => Promise<T>,
): Promise<T> {
  // The clock of this machine may be wrong, so a short command compares it with the database's but
  // does not record it.
  const database = await openDatabase(config, { recordsTime: false })
  try {
    return await work(database)
  } finally {
    await database.close()
  }
}

/** Users, sessions, limits and the authorization server, opened for a command. */
export interface OpenCore extends Core {
  readonly config: Config
  readonly database: ServiceDatabase
  readonly found: FoundTables
}

export interface CoreOptions {
  /**
   * Whether the command also works on the database of an application that uses the libraries,
   * because it only needs clients, tokens and keys.
   * @default false
   */
  readonly alsoInApplications?: boolean
  /**
   * Whether to create the tables in an empty database, instead of failing.
   * @default false
   */
  readonly makesTables?: boolean
  /**
   * Whether the command only reads, so that the tables must exist and be up to date.
   * @default false
   */
  readonly onlyReads?: boolean
}

export const ALSO_IN_APPLICATIONS: CoreOptions = { alsoInApplications: true }

/**
 * Opens users, sessions, limits and the authorization server, and runs `work` with them. Migrates
 * the service's tables first. In the database of another application, the tables must be up to
 * date.
 * @throws ConfigurationError if the database holds foreign tables, or lacks tables that the command
 * needs.
 */
export async function withCore<T>(
  context: CommandContext,
  { alsoInApplications = false, makesTables = false, onlyReads = false }: CoreOptions,
  work: (core: OpenCore) => Promise<T>,
): Promise<T> {
  const config = await context.config(['secret'])
  return withDatabase(config, async (database) => {
    const found = await findTables(database)
    if (found === 'nothing' && !makesTables) await requireTables(database, ['service'])
    if (found === 'application' && alsoInApplications) await requireTables(database, ['oauth'])
    else if (onlyReads) await requireTables(database, ['service', 'oauth'])
    else await withProgress('Bringing the database up to date', () => migrateCore(database))
    const core = createCore({
      config,
      database,
      // Commands neither issue tokens nor serve requests, so any address will do.
      url: config.url ?? 'http://localhost',
      logger: createLogger('warn', process.stderr),
      background: false,
    })
    try {
      return await work({ ...core, config, database, found })
    } finally {
      await core.oauth.close()
    }
  })
}

/**
 * Runs `work` for a command that only reads: creates no file, tables or keys.
 * @throws UsageError if the database file does not exist.
 * @throws ConfigurationError if the named tables are missing.
 */
export async function withTables<T>(
  config: Config,
  names: Parameters<typeof requireTables>[1],
  work: (database: ServiceDatabase) => Promise<T>,
): Promise<T> {
  const file = findDatabaseFile(config.databaseUrl)
  if (file !== null && !existsSync(file)) {
    throw new UsageError(`There is no database at ${file}. Is DATABASE_URL correct?`)
  }
  return withDatabase(config, async (database) => {
    await requireTables(database, names)
    return work(database)
  })
}

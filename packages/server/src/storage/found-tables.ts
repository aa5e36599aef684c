import { billingMigrations, ownerMigrations } from '@tollgate/billing'
import {
  type Database,
  hasColumn,
  hasTable,
  type Migration,
  type MigrationSet,
  readMigrations,
} from '@tollgate/database'
import { oauthMigrations } from '@tollgate/oauth'
import { ConfigurationError } from '../configuration-error.ts'
import { serviceMigrations } from './migrations.ts'

/** The kind of tables that a database holds. */
export type FoundTables =
  | 'nothing'
  /** An application's own: a `users` table that is not the service's, or tables of the libraries without the service's. */
  | 'application'
  | 'service'

const users = { table: 'users', id: 'id', idType: 'integer', email: 'email', name: 'name' } as const

/** The table of teams, the other owners of subscriptions. */
export const TEAMS = { table: 'teams', idType: 'string', email: 'email', name: 'name' } as const

/** The type of teams as owners in billing. */
export const TEAM = 'team'

const SETS = {
  service: serviceMigrations,
  oauth: oauthMigrations,
  billing: billingMigrations({ ...users, otherOwners: true }),
  'billing-team': ownerMigrations(TEAM, TEAMS),
} as const satisfies Record<string, MigrationSet>

/** The migrations of every table in the service's database. */
export const migrationSets: readonly MigrationSet[] = Object.values(SETS)

export async function findTables(database: Database): Promise<FoundTables> {
  if (!(await hasTable(database, 'users'))) {
    if ((await readMigrations(database)).size === 0) return 'nothing'
    // The service creates its own tables first. Another process may have done so since the first read.
    if (!(await hasTable(database, 'users'))) return 'application'
  }
  // A first migration that was interrupted may have created the table without recording it.
  return (await hasColumn(database, 'users', 'email_key')) ? 'service' : 'application'
}

/**
 * Rejects a database with an application's tables before anything is created: the service needs its
 * own `users` table.
 * @throws ConfigurationError
 */
export async function refuseForeignTables(database: Database): Promise<void> {
  if ((await findTables(database)) !== 'application') return
  throw new ConfigurationError(
    "This database has an application's own tables: its `users` is not the service's, or it has tables of the Tollgate libraries but no `users`. Nothing was changed. Point DATABASE_URL to a database of the service's own.",
  )
}

/**
 * Requires that these tables exist and are up to date, for commands that create none. `migrate` is
 * the command line that migrates an application's own database.
 * @throws ConfigurationError that describes what was found instead.
 */
export async function requireTables(
  database: Database,
  names: readonly (keyof typeof SETS)[],
  migrate: string | null = null,
): Promise<void> {
  const found = await readMigrations(database)
  for (const name of names) {
    const done = found.get(name) ?? []
    const set: MigrationSet = SETS[name]
    const newest = done.at(-1)
    if (newest === undefined) throw new ConfigurationError(await describeAbsence(database, name))
    if (done.some((id) => !set.migrations.some((known) => known.id === id))) {
      throw new ConfigurationError(
        `The ${name} tables in this database were created by a newer version of Tollgate (${newest}), or by one from before the first release; nothing was changed. Use that version, or another database.`,
      )
    }
    const missing = set.migrations.filter(({ id }) => !done.includes(id))
    if (missing.length > 0) {
      throw new ConfigurationError(
        `The ${name} tables in this database were created by an older version of Tollgate (${newest}); nothing was changed. ${await describeWay(database, missing, migrate)}`,
      )
    }
  }
}

async function describeWay(
  database: Database,
  missing: readonly Migration[],
  migrate: string | null,
): Promise<string> {
  // In an application, only its own instances know which migrations need other processes to stop.
  if (migrate !== null) return `To bring them up to date, run: ${migrate}`
  for (const { needsOffline } of missing) {
    if (await needsOffline?.(database)) {
      return 'To bring them up to date, stop every process that uses the database, then run: tollgate migrate --offline'
    }
  }
  return 'To bring them up to date, run: tollgate migrate'
}

async function describeAbsence(database: Database, name: string): Promise<string> {
  const found = await findTables(database)
  return found === 'application'
    ? `This database has an application's own tables, but no ${name} tables of Tollgate, and none were created. Is DATABASE_URL correct?`
    : `There are no ${name} tables of Tollgate in this database, and none were created. Is DATABASE_URL correct? If so, run: tollgate migrate`
}

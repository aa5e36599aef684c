import { billingMigrations } from '@tollgate/billing'
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

/** Whose tables a database holds, by looking only. */
export type FoundTables =
  | 'nothing'
  /** An application's own: a `users` table that is not the service's, or tables of the libraries without the service's. */
  | 'application'
  | 'service'

const users = { table: 'users', id: 'id', idType: 'integer', email: 'email', name: 'name' } as const

const SETS = {
  service: serviceMigrations,
  oauth: oauthMigrations,
  billing: billingMigrations(users),
} as const satisfies Record<string, MigrationSet>

export async function findTables(database: Database): Promise<FoundTables> {
  if (!(await hasTable(database, 'users'))) {
    // The service makes its own tables first.
    return (await readMigrations(database)).size === 0 ? 'nothing' : 'application'
  }
  // A first migration that was killed half way has made the table and not yet said so.
  return (await hasColumn(database, 'users', 'email_key')) ? 'service' : 'application'
}

/** Before anything is made: the service needs a `users` of its own. */
export async function refuseForeignTables(database: Database): Promise<void> {
  if ((await findTables(database)) !== 'application') return
  throw new ConfigurationError(
    "These are an application's own tables: `users` is not the service's, or the tables of the libraries are here without it. Nothing was changed. Give the service a database of its own in DATABASE_URL.",
  )
}

/** For commands that make no tables: says what was found instead. */
export async function requireTables(
  database: Database,
  names: readonly (keyof typeof SETS)[],
): Promise<void> {
  const migrations = await readMigrations(database)
  for (const name of names) {
    const done = migrations.get(name) ?? []
    const set: MigrationSet = SETS[name]
    const known = set.migrations.map(({ id }) => id)
    const newest = done.at(-1)
    const missing = set.migrations.filter(({ id }) => !done.includes(id))
    if (done.some((id) => !known.includes(id))) {
      throw new ConfigurationError(
        `The ${name} tables in this database are of a newer Tollgate (${newest}): use that version.`,
      )
    }
    if (newest === undefined) throw new ConfigurationError(await describeAbsence(database, name))
    if (missing.length > 0) {
      throw new ConfigurationError(
        `The ${name} tables in this database are of an older Tollgate (${newest}); nothing was changed. ${await describeWay(database, missing)}`,
      )
    }
  }
}

async function describeWay(database: Database, missing: readonly Migration[]): Promise<string> {
  for (const { needsOffline } of missing) {
    if (await needsOffline?.(database)) {
      return 'To bring them up to date, stop every process that uses the database, then: tollgate migrate --offline'
    }
  }
  return 'Bring them up to date: tollgate migrate'
}

async function describeAbsence(database: Database, name: string): Promise<string> {
  const found = await findTables(database)
  return found === 'application'
    ? `This database holds an application's own tables and no ${name} tables of Tollgate. None were made: is DATABASE_URL the right one?`
    : `There are no ${name} tables of Tollgate in this database. None were made: is DATABASE_URL the right one? If so: tollgate migrate`
}

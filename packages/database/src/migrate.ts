import type { Database } from './database.ts'
import { NeedsOffline, SchemaTooNew, SchemaTooOld } from './errors.ts'
import { holdLease } from './locks/lease.ts'
import { WAIT_FOR_LOCK } from './locks/locks-table.ts'
import { type Columns, createColumns } from './schema/columns.ts'
import { createTable, hasTable } from './schema/tables.ts'

/** One step of a schema. */
export interface Migration {
  /** Never changes once released, e.g. `001-clients`. */
  readonly id: string
  /**
   * Brings the schema one step forward. May run again after a crash: MySQL commits after each schema
   * statement, so use `createTable`, `createIndex` and `addColumn`, which do nothing the second time.
   */
  up(database: Database, columns: Columns): Promise<void>
  /**
   * Whether it must not be done beside running processes of an older build, because their statements would mean
   * something else afterwards. It is then refused, unless the caller says that none runs. Left out: it may.
   */
  needsOffline?(database: Database): Promise<boolean>
}

/** What `migrate()` may be told. */
export interface MigrateOptions {
  /** No other process uses the database, so steps may be taken that cannot be taken beside one. Default false. */
  readonly offline?: boolean
}

/** All migrations of one package, oldest first. */
export interface MigrationSet {
  /** Such as `oauth`; no two sets of a database share one. */
  readonly name: string
  /** In the order in which they run. */
  readonly migrations: readonly Migration[]
}

const TABLE = 'tollgate_migrations'

/**
 * Runs the migrations that have not run yet, in order. Any number of processes may call this at
 * once: one works, the others wait and then find nothing to do.
 */
export async function migrate(
  database: Database,
  set: MigrationSet,
  { offline = false }: MigrateOptions = {},
): Promise<{ applied: string[] }> {
  const known = set.migrations.map(({ id }) => id)
  if (new Set(known).size !== known.length) {
    throw new TypeError(`The migrations of "${set.name}" have an id twice: ${known.join(', ')}`)
  }
  if (await isUpToDate(database, set)) return { applied: [] }
  if (!database.dialect.schema.changesCommit) {
    return database.exclusively('migrate', (tx) =>
      runMigrations(tx, set, { offline, check: async () => {} }),
    )
  }
  // The other lock is the one that builds from before the lease know of.
  return holdLease(database, 'migrate.lease', WAIT_FOR_LOCK, (check) =>
    database.exclusively('migrate', (tx) => runMigrations(tx, set, { offline, check })),
  )
}

async function runMigrations(
  tx: Database,
  set: MigrationSet,
  { offline, check }: { offline: boolean; check: (on: Database) => Promise<void> },
): Promise<{ applied: string[] }> {
  const columns = createColumns(tx)
  // On MySQL this ends the transaction, also if the table is there; each statement then commits alone.
  await createTable(tx, TABLE, {
    columns: { set: columns.id, id: columns.string(200), applied_at: columns.instant },
    primaryKey: ['set', 'id'],
  })
  const done = await findApplied(tx, set.name)
  refuseNewer(set, done)
  const applied: string[] = []
  for (const migration of set.migrations) {
    const { id } = migration
    if (done.has(id)) continue
    await check(tx)
    if (!offline) await refuseBesideOthers(tx, set.name, migration)
    await migration.up(tx, columns)
    await check(tx)
    const row = { set: set.name, id, applied_at: Date.now() }
    await tx.kysely.insertInto(TABLE).values(row).execute()
    applied.push(id)
  }
  return { applied }
}

/** Asked without a lock, so that processes with nothing to do wait for nobody. */
async function isUpToDate(database: Database, set: MigrationSet): Promise<boolean> {
  if (!(await hasTable(database, TABLE))) return false
  const done = await findApplied(database, set.name)
  refuseNewer(set, done)
  return set.migrations.every(({ id }) => done.has(id))
}

/**
 * For processes that must not migrate: throws `SchemaTooOld` when a migration has not run, and `SchemaTooNew` when
 * one has that this build does not know.
 */
export async function requireMigrations(database: Database, set: MigrationSet): Promise<void> {
  if (await isUpToDate(database, set)) return
  throw new SchemaTooOld(
    `The database lacks migrations of "${set.name}" that this build needs. Migrate it first: in the service ` +
      '`tollgate migrate`, in a program `await billing.migrate()` and the like.',
  )
}

/** Which migrations of each set have run, in order; nothing is made or changed. */
export async function readMigrations(database: Database): Promise<ReadonlyMap<string, string[]>> {
  const sets = new Map<string, string[]>()
  if (!(await hasTable(database, TABLE))) return sets
  const rows = await database.kysely
    .selectFrom(TABLE)
    .select(['set', 'id'])
    .orderBy('applied_at')
    .orderBy('id')
    .execute()
  for (const { set, id } of rows) sets.set(set, [...(sets.get(set) ?? []), id])
  return sets
}

async function findApplied(database: Database, set: string): Promise<Set<string>> {
  const rows = await database.kysely.selectFrom(TABLE).select('id').where('set', '=', set).execute()
  return new Set(rows.map(({ id }) => id))
}

async function refuseBesideOthers(
  tx: Database,
  set: string,
  { id, needsOffline }: Migration,
): Promise<void> {
  if (!(await needsOffline?.(tx))) return
  throw new NeedsOffline(
    `The migration ${id} of "${set}" has not run: it changes columns that processes of an older build may be using. ` +
      'Stop every process that uses this database, then migrate once with `tollgate migrate --offline`, or in a ' +
      'program with `migrate({ offline: true })`, and start them again.',
  )
}

function refuseNewer({ name, migrations }: MigrationSet, done: ReadonlySet<string>): void {
  const known = new Set(migrations.map(({ id }) => id))
  const unknown = [...done].filter((id) => !known.has(id))
  if (unknown.length === 0) return
  throw new SchemaTooNew(
    `The database has migrations of "${name}" that this build does not know: ${unknown.join(', ')}. ` +
      'Run the newer build, or restore a backup made before it; this build must not touch the data.',
  )
}

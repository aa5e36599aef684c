import { type Database, internalsOf } from './database.ts'
import { NeedsOffline, SchemaTooNew, SchemaTooOld } from './errors.ts'
import { holdLease } from './locks/lease.ts'
import { LOCK_WAIT_MS } from './locks/locks-table.ts'
import { type ColumnDefinitions, createColumnDefinitions } from './schema/columns.ts'
import { createTable, hasTable } from './schema/tables.ts'
import { createStatementRecord } from './statements/recording.ts'

/** One migration: a step that upgrades the schema of a database. */
export interface Migration {
  /** Unique in its set, e.g. `001-clients`. Must not change after a release. */
  readonly id: string
  /**
   * Upgrades the schema by one step. May run again after a crash, because MySQL commits after each
   * schema statement. So use `createTable`, `createIndex` and `addColumn`, which do nothing the
   * second time.
   */
  up(database: Database, columns: ColumnDefinitions): Promise<void>
  /**
   * Whether this migration must not run while processes of an older version use the database,
   * because their statements would then do something else. If `true`, `migrate()` throws
   * `NeedsOffline` unless its option `offline` is set. If omitted, the migration may always run.
   */
  needsOffline?(database: Database): Promise<boolean>
}

/** Options for `migrate()`. */
export interface MigrateOptions {
  /**
   * Whether no other process uses the database, so that steps with `needsOffline` may run.
   * @default false
   */
  readonly offline?: boolean
}

/** All migrations of one package, oldest first. */
export interface MigrationSet {
  /** Name of the set, such as `oauth`. Unique in the database. */
  readonly name: string
  /** The migrations, in the order in which they run. */
  readonly migrations: readonly Migration[]
}

const TABLE = 'tollgate_migrations'

/**
 * Runs the migrations that have not run yet, in order. Safe for concurrent processes: one runs
 * them, the others wait and then find nothing to do.
 * @throws {SchemaTooNew} if the database has migrations that this version does not know.
 * @throws {NeedsOffline} if a migration cannot run beside other processes and `offline` is not set.
 * @example
 * ```ts
 * await migrate(database, {
 *   name: 'notes',
 *   migrations: [{
 *     id: '001-notes',
 *     up: (db, columns) => createTable(db, 'notes', {
 *       columns: { id: columns.id, body: columns.text },
 *       primaryKey: ['id'],
 *     }),
 *   }],
 * })
 * ```
 */
export async function migrate(
  database: Database,
  set: MigrationSet,
  { offline = false }: MigrateOptions = {},
): Promise<{ applied: string[] }> {
  assertUniqueIds(set)
  if (await isUpToDate(database, set)) return { applied: [] }
  if (!database.dialect.schema.changesCommit) {
    return database.exclusively('migrate', (tx) =>
      runMigrations(tx, set, { offline, check: async () => {} }),
    )
  }
  // A transaction inside the lease keeps all statements on one connection.
  return holdLease(database, 'migrate.lease', LOCK_WAIT_MS, (check) =>
    database.exclusively('migrate', (tx) => runMigrations(tx, set, { offline, check })),
  )
}

/** A migration that has not run, as `planMigrations()` returns it. */
export interface PlannedMigration {
  /** Name of the set, such as `oauth`. */
  readonly set: string
  /** Id of the migration. */
  readonly id: string
  /** Whether `migrate()` runs the migration only with the option `offline`. */
  readonly needsOffline: boolean
  /**
   * Statements that the migration would run, in order, with their values. On SQLite and MySQL, a
   * change that makes a column nullable is shown as a comment.
   */
  readonly statements: readonly string[]
}

/**
 * Lists the migrations that `migrate()` would run, with their statements. Changes nothing: it only
 * reads, and waits for no lock.
 * @throws {SchemaTooNew} if the database has migrations that this version does not know.
 * @example
 * ```ts
 * for (const { id, statements } of await planMigrations(database, notes)) {
 *   console.log(`-- ${id}`, statements)
 * }
 * ```
 */
export async function planMigrations(
  database: Database,
  set: MigrationSet,
): Promise<PlannedMigration[]> {
  assertUniqueIds(set)
  const record = createStatementRecord()
  const recording = internalsOf(database).recordWrites(record)
  const columns = createColumnDefinitions(recording)
  const hasRun = await hasTable(database, TABLE)
  const done = hasRun ? await findApplied(database, set.name) : new Set<string>()
  requireSameHistory(set, done)
  if (!hasRun) await createMigrationsTable(recording, columns)
  const planned: PlannedMigration[] = []
  for (const migration of set.migrations) {
    const { id } = migration
    if (done.has(id)) continue
    const needsOffline = (await migration.needsOffline?.(recording)) ?? false
    await migration.up(recording, columns)
    await recordApplied(recording, set.name, id)
    planned.push({ set: set.name, id, needsOffline, statements: record.take() })
  }
  return planned
}

function assertUniqueIds({ name, migrations }: MigrationSet): void {
  const known = migrations.map(({ id }) => id)
  if (new Set(known).size === known.length) return
  throw new TypeError(`The migrations of "${name}" contain a duplicate id: ${known.join(', ')}`)
}

async function createMigrationsTable(tx: Database, columns: ColumnDefinitions): Promise<void> {
  await createTable(tx, TABLE, {
    columns: { set: columns.id, id: columns.string(200), applied_at: columns.instant },
    primaryKey: ['set', 'id'],
  })
}

async function recordApplied(tx: Database, set: string, id: string): Promise<void> {
  await tx.kysely.insertInto(TABLE).values({ set, id, applied_at: Date.now() }).execute()
}

async function runMigrations(
  tx: Database,
  set: MigrationSet,
  { offline, check }: { offline: boolean; check: (on: Database) => Promise<void> },
): Promise<{ applied: string[] }> {
  const columns = createColumnDefinitions(tx)
  // On MySQL this ends the transaction even if the table exists; from then on each statement
  // commits alone.
  await createMigrationsTable(tx, columns)
  const done = await findApplied(tx, set.name)
  requireSameHistory(set, done)
  const applied: string[] = []
  for (const migration of set.migrations) {
    const { id } = migration
    if (done.has(id)) continue
    await check(tx)
    if (!offline) await requireNoOtherProcesses(tx, set.name, migration)
    await migration.up(tx, columns)
    await check(tx)
    await recordApplied(tx, set.name, id)
    applied.push(id)
  }
  return { applied }
}

/**
 * Whether all migrations have run. Takes no lock, so that a process with nothing to do never waits.
 */
async function isUpToDate(database: Database, set: MigrationSet): Promise<boolean> {
  if (!(await hasTable(database, TABLE))) return false
  const done = await findApplied(database, set.name)
  requireSameHistory(set, done)
  return set.migrations.every(({ id }) => done.has(id))
}

/**
 * Checks that all migrations have run, for processes that must not run them.
 * @throws {SchemaTooOld} if a migration has not run.
 * @throws {SchemaTooNew} if a migration has run that this version does not know.
 */
export async function requireMigrations(database: Database, set: MigrationSet): Promise<void> {
  if (await isUpToDate(database, set)) return
  throw new SchemaTooOld(
    `The database lacks migrations of "${set.name}" that this build needs. Migrate it first: run ` +
      '`tollgate migrate` for the service, or call `await billing.migrate()` or its equivalent in your program.',
  )
}

/**
 * Returns the ids of the migrations that have run, in order, for each set. Creates and changes
 * nothing.
 */
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

async function requireNoOtherProcesses(
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

/**
 * Rejects a database that has later migrations but not the first one. Because migrations run in
 * order, its schema was created by other migrations.
 */
function requireSameHistory(
  { name, migrations }: MigrationSet,
  appliedIds: ReadonlySet<string>,
): void {
  const [first] = migrations
  if (first && appliedIds.size > 0 && !appliedIds.has(first.id)) {
    throw new SchemaTooOld(
      `The tables of "${name}" were created by a build from before the first release (${[...appliedIds].join(', ')}) and ` +
        'cannot be upgraded. Nothing was changed: start with an empty database, or keep using the build that created this one.',
    )
  }
  const known = new Set(migrations.map(({ id }) => id))
  const unknown = [...appliedIds].filter((id) => !known.has(id))
  if (unknown.length === 0) return
  throw new SchemaTooNew(
    `The database has migrations of "${name}" that this build does not know: ${unknown.join(', ')}. ` +
      'Run the newer build, or restore a backup made before it; this build must not touch the data.',
  )
}

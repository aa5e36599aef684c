import { type Columns, createColumns } from './columns.ts'
import { type Database, internals } from './database.ts'
import { SchemaTooNew } from './errors.ts'
import { createTable } from './tables.ts'

export interface Migration {
  /** Never changes once released, e.g. `001-clients`. */
  readonly id: string
  /**
   * Brings the schema one step forward. May run again after a crash: MySQL commits after each schema
   * statement, so use `createTable`, `createIndex` and `addColumn`, which do nothing the second time.
   */
  up(database: Database, columns: Columns): Promise<void>
}

/** All migrations of one package, oldest first. */
export interface MigrationSet {
  readonly name: string
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
): Promise<{ applied: string[] }> {
  const known = set.migrations.map(({ id }) => id)
  if (new Set(known).size !== known.length) {
    throw new TypeError(`The migrations of "${set.name}" have an id twice: ${known.join(', ')}`)
  }
  const columns = createColumns(database[internals].engine)
  return database.exclusively('migrate', async (tx) => {
    await createTable(tx, TABLE, {
      columns: { set: columns.id, id: columns.string(200), applied_at: columns.instant },
      primaryKey: ['set', 'id'],
    })
    const done = await findApplied(tx, set.name)
    refuseNewer(set.name, done, known)
    const applied: string[] = []
    for (const { id, up } of set.migrations) {
      if (done.has(id)) continue
      await up(tx, columns)
      const row = { set: set.name, id, applied_at: Date.now() }
      await tx.kysely.insertInto(TABLE).values(row).execute()
      applied.push(id)
    }
    return { applied }
  })
}

async function findApplied(database: Database, set: string): Promise<Set<string>> {
  const rows = await database.kysely.selectFrom(TABLE).select('id').where('set', '=', set).execute()
  return new Set(rows.map(({ id }) => id))
}

function refuseNewer(name: string, done: ReadonlySet<string>, known: readonly string[]): void {
  const unknown = [...done].filter((id) => !known.includes(id))
  if (unknown.length === 0) return
  throw new SchemaTooNew(
    `The database has migrations of "${name}" that this build does not know: ${unknown.join(', ')}. ` +
      'Run the newer build, or restore a backup made before it; this build must not touch the data.',
  )
}

import {
  connect,
  createColumnDefinitions,
  createTable,
  type Database,
  field,
  holdsMilliseconds,
  type Migration,
  type MigrationSet,
  migrate,
  NeedsOffline,
  requireMigrations,
  SchemaTooNew,
  SchemaTooOld,
  toTimestamps,
} from '@tollgate/database'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  createTestDatabase,
  type TestDatabase,
} from '../../../test-support/create-test-database.ts'

let test: TestDatabase
let database: Database
beforeEach(async () => {
  test = await createTestDatabase()
  database = test.database
})
afterEach(() => test.drop())

/**
 * SQLite stores timestamps in milliseconds already: nothing changes, and no process has to be
 * stopped.
 */
const isChanged = process.env.TEST_DATABASE !== 'sqlite'

const createVisits = (on: Database, name = 'visits') => {
  const columns = createColumnDefinitions(on)
  return createTable(on, name, {
    columns: {
      id: columns.integer,
      began_at: columns.instant,
      ended_at: columns.instant.nullable(),
    },
    primaryKey: ['id'],
    indexes: { [`${name}_by_end`]: ['ended_at', 'id'] },
  })
}
const before: Migration = { id: '0001-visits', up: (on) => createVisits(on) }
const timestamps: Migration = {
  id: '0002-timestamps',
  up: (on, columns) =>
    toTimestamps(on, 'visits', {
      began_at: columns.timestamp,
      ended_at: columns.timestamp.nullable(),
    }),
  needsOffline: (on) => holdsMilliseconds(on, 'visits', ['began_at', 'ended_at']),
}
const old: MigrationSet = { name: 'app', migrations: [before] }
const next: MigrationSet = { name: 'app', migrations: [before, timestamps] }

async function read(on: Database, table = 'visits') {
  const rows = await on.kysely.selectFrom(table).selectAll().orderBy('id').execute()
  const moment = field.timestamp.nullable().fromStored
  return rows.map((row) => [
    row.id,
    moment(row.began_at)?.getTime(),
    moment(row.ended_at)?.getTime() ?? null,
  ])
}

describe('a migration that requires that no other process is running', () => {
  it('is rejected with an explanation, and runs with the `offline` option', async () => {
    await migrate(database, old)
    const row = { id: 1, began_at: 1_764_000_000_123, ended_at: null }
    await database.kysely.insertInto('visits').values(row).execute()
    if (isChanged) {
      const refused = migrate(database, next)
      await expect(refused).rejects.toThrow(NeedsOffline)
      await expect(refused).rejects.toMatchObject({ code: 'TOLLGATE_NEEDS_OFFLINE' })
      await expect(refused).rejects.toThrow(
        /0002-timestamps.*Stop every process.*tollgate migrate --offline.*migrate\({ offline: true }\)/,
      )
      expect(await database.kysely.selectFrom('visits').selectAll().execute()).toEqual([row])
      expect(await migrate(database, old)).toEqual({ applied: [] })
    }
    const { applied } = await migrate(database, next, { offline: isChanged })
    expect(applied).toEqual(['0002-timestamps'])
    expect(await read(database)).toEqual([[1, row.began_at, null]])
    await expect(migrate(database, old)).rejects.toThrow(SchemaTooNew)
  })

  it('runs without `offline` if there is nothing to change', async () => {
    await migrate(database, old)
    expect(await migrate(database, next)).toEqual({ applied: ['0002-timestamps'] })
  })

  it('runs once if several processes start it', async () => {
    await migrate(database, old)
    await database.kysely.insertInto('visits').values({ id: 1, began_at: 5, ended_at: 6 }).execute()
    const others = await Promise.all([1, 2, 3].map(() => connect(test.url)))
    const done = await Promise.all(others.map((on) => migrate(on, next, { offline: true })))
    expect(done.flatMap(({ applied }) => applied)).toEqual(['0002-timestamps'])
    expect(await read(database)).toEqual([[1, 5, 6]])
    await Promise.all(others.map((on) => on.close()))
  })
})

describe('requireMigrations()', () => {
  it('rejects a database that lacks a migration or has an unknown one', async () => {
    await expect(requireMigrations(database, old)).rejects.toThrow(SchemaTooOld)
    await migrate(database, old)
    await requireMigrations(database, old)
    const missing = requireMigrations(database, next)
    await expect(missing).rejects.toMatchObject({ code: 'TOLLGATE_SCHEMA_TOO_OLD' })
    await expect(missing).rejects.toThrow(/"app".*tollgate migrate/)
    await migrate(database, next)
    await requireMigrations(database, next)
    await expect(requireMigrations(database, old)).rejects.toThrow(SchemaTooNew)
  })
})

describe('toTimestamps(), which converts columns of milliseconds,', () => {
  it('can be interrupted before any of its statements, and repeated after other processes have written', async () => {
    let left = Number.POSITIVE_INFINITY
    const stopping = await connect(test.url, {
      onQuery() {
        if (left-- <= 0) throw new Error('stopped')
      },
    })
    const columns = createColumnDefinitions(database)
    const targets = { began_at: columns.timestamp, ended_at: columns.timestamp.nullable() }
    let stopped = 0
    for (let statements = 0; ; statements++) {
      const table = `visits_${statements}`
      await createVisits(database, table)
      const { kysely } = database
      const values = { began_at: 1_764_000_000_123, ended_at: 1 }
      await kysely
        .insertInto(table)
        .values([1, 2].map((id) => ({ id, ...values })))
        .execute()
      left = statements
      const isDone = await toTimestamps(stopping, table, targets).then(
        () => true,
        (error) => {
          expect(error.message).toBe('stopped')
          return false
        },
      )
      if (!isDone) {
        stopped++
        await kysely.updateTable(table).set({ ended_at: null }).where('id', '=', 2).execute()
        await kysely.insertInto(table).values({ id: 3, began_at: 7, ended_at: 8 }).execute()
        await toTimestamps(database, table, targets)
      }
      expect(await read(database, table)).toEqual([
        [1, values.began_at, 1],
        ...(isDone
          ? [[2, values.began_at, 1]]
          : [
              [2, values.began_at, null],
              [3, 7, 8],
            ]),
      ])
      const [row] = await kysely.selectFrom(table).selectAll().execute()
      expect(Object.keys(row ?? {}).sort()).toEqual(['began_at', 'ended_at', 'id'])
      if (isDone) break
    }
    expect(stopped).toBeGreaterThanOrEqual(isChanged ? 3 : 0)
    await stopping.close()
  })

  it.runIf(process.env.TEST_DATABASE === 'mariadb')('loses no value and no index', async () => {
    const columns = createColumnDefinitions(database)
    const at = { at: columns.timestamp.nullable() }
    await createTable(database, 'late', {
      columns: { id: columns.id, at: columns.instant.nullable() },
      primaryKey: ['id'],
    })
    await sql`create unique index late_by_id on late (id(7), at desc)`.execute(database.kysely)
    await database.kysely.insertInto('late').values({ id: 'a', at: 253_402_300_800_000 }).execute()
    const tooLate = toTimestamps(database, 'late', at)
    await expect(tooLate).rejects.toThrow('overflow')
    await database.kysely.updateTable('late').set({ at: 253_402_300_799_999 }).execute()
    await toTimestamps(database, 'late', at)
    const { rows } = await sql<object>`show create table late`.execute(database.kysely)
    expect(JSON.stringify(rows)).toContain('UNIQUE KEY `late_by_id` (`id`(7),`at` DESC)')
  })
})

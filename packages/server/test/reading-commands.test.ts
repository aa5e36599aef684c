import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { billingMigrations } from '@tollgate/billing'
import { type Database, migrate } from '@tollgate/database'
import { kyselyStorage } from '@tollgate/oauth'
import { afterAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { createTestDatabase } from '../../../test-support/create-test-database.ts'
import { runCli } from '../src/program.ts'
import { serviceMigrations } from '../src/storage/migrations.ts'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-reading-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let database: Database
let url: string
beforeEach(async () => {
  const created = await createTestDatabase()
  database = created.database
  url = created.url
  onTestFinished(created.drop)
})

async function tollgate(args: readonly string[], databaseUrl = url) {
  const out: string[] = []
  const err: string[] = []
  const environment = { DATABASE_URL: databaseUrl, TOLLGATE_DATA_DIR: folder, PORT: '0' }
  const code = await runCli(args, environment, {
    stdout: { write: (text) => void out.push(text) },
    stderr: { write: (text) => void err.push(text) },
  })
  return { code, stdout: out.join(''), stderr: err.join('') }
}

async function tables(): Promise<string[]> {
  return (await database.kysely.introspection.getTables()).map(({ name }) => name).sort()
}

/** Users that have nothing to do with the service's. */
async function createOwnUsers(): Promise<void> {
  await database.kysely.schema
    .createTable('users')
    .addColumn('id', 'integer', (id) => id.primaryKey())
    .addColumn('login', 'varchar(64)')
    .execute()
  await database.kysely.insertInto('users').values({ id: 1, login: 'ada' }).execute()
}

const READING = [['client', 'list'], ['doctor'], ['billing', 'sync', '--dry-run']]

describe.each(READING)('%s %s', (...words) => {
  const args = words.filter((word) => word !== undefined)

  it('makes nothing in an empty database, and says that it is empty', async () => {
    const { code, stdout, stderr } = await tollgate(args)
    expect(code).not.toBe(0)
    expect(stdout + stderr).toMatch(/no (oauth|service) tables of Tollgate in this database/)
    expect(await tables()).toEqual([])
  })

  it("leaves an application's own database alone, and says whose it is", async () => {
    await createOwnUsers()
    const { code, stdout, stderr } = await tollgate(args)
    expect(code).not.toBe(0)
    expect(stdout + stderr).toContain("an application's own tables")
    expect(await tables()).toEqual(['users'])
  })
})

describe('client list', () => {
  it("shows the clients of an application's own authorization server, and makes nothing", async () => {
    await createOwnUsers()
    await kyselyStorage(database).migrate()
    const before = await tables()
    const { code, stdout } = await tollgate(['client', 'list'])
    expect([code, stdout]).toEqual([0, 'There are no clients\n'])
    expect(await tables()).toEqual(before)
    const keys = await database.kysely.selectFrom('oauth_keys').selectAll().execute()
    expect(keys).toEqual([])
  })

  it('says when the tables are of an older or newer version, and changes nothing', async () => {
    expect((await tollgate(['migrate'])).code).toBe(0)
    await database.kysely
      .deleteFrom('tollgate_migrations')
      .where('set', '=', 'oauth')
      .where('id', '<>', '0001-tables')
      .execute()
    const older = await tollgate(['client', 'list'])
    expect(older.code).toBe(2)
    expect(older.stderr).toContain('older Tollgate (0001-tables)')
    expect((await tollgate(['migrate'])).code).toBe(0)
    const row = { set: 'oauth', id: '9999-later', applied_at: Date.now() + 1000 }
    await database.kysely.insertInto('tollgate_migrations').values(row).execute()
    const newer = await tollgate(['client', 'list'])
    expect(newer.code).toBe(2)
    expect(newer.stderr).toContain('newer Tollgate (9999-later)')
  })

  it.each(['sqlite:', 'sqlite://', 'file:'])(
    'makes no file where there is none: %s',
    async (start) => {
      const file = join(folder, 'nothing-here.db')
      const { code, stderr } = await tollgate(['client', 'list'], `${start}${file}`)
      expect(code).toBe(2)
      expect(stderr).toContain(`There is no database at ${file}`)
      expect(existsSync(file)).toBe(false)
    },
  )
})

it.each([
  ['migrate', ['migrate']],
  ['user create', ['user', 'create', '--email', 'a@example.com', '--password', 'long enough']],
  ['client create', ['client', 'create', '--name', 'App', '--credentials']],
])("%s refuses an application's own database and changes nothing", async (_, args) => {
  await createOwnUsers()
  const { code, stderr } = await tollgate(args)
  expect(code).toBe(2)
  expect(stderr).toContain("an application's own tables")
  expect(await tables()).toEqual(['users'])
})

const WRITING: readonly (readonly [string, readonly string[]])[] = [
  ['client revoke', ['client', 'revoke', 'no-such-client']],
  ['client verify', ['client', 'verify', 'no-such-client']],
  ['client create', ['client', 'create', '--name', 'App', '--credentials']],
  ['keys rotate', ['keys', 'rotate']],
  ['keys reseal', ['keys', 'reseal']],
  ['purge', ['purge']],
  ['restore-finish', ['restore-finish', '--yes']],
]

it.each(WRITING)(
  "%s changes only the library's tables in the database of an application",
  async (_, args) => {
    await kyselyStorage(database).migrate()
    const before = await tables()
    const { stderr } = await tollgate(args)
    expect(stderr).not.toContain('own tables')
    expect(await tables()).toEqual(before)
  },
)

it.each([
  ['serve', ['migrate']],
  ['user disable', ['user', 'disable', 'ada@example.com']],
])(
  '%s makes no tables in the database of an application without a `users` table',
  async (_, args) => {
    await kyselyStorage(database).migrate()
    const before = await tables()
    const { code, stderr } = await tollgate(args)
    expect([code, stderr]).toEqual([2, expect.stringContaining("an application's own tables")])
    expect(await tables()).toEqual(before)
  },
)

it.each([
  ...WRITING.filter(([name]) => name !== 'client create'),
  ['user disable', ['user', 'disable', 'ada@example.com']],
] as const)('%s makes no tables in an empty database', async (_, args) => {
  const { code, stderr } = await tollgate(args)
  expect([code, stderr]).toEqual([2, expect.stringContaining('If so: tollgate migrate')])
  expect(await tables()).toEqual([])
})

it('a first migration that was killed half way can be run again', async () => {
  expect((await tollgate(['migrate'])).code).toBe(0)
  await database.kysely.deleteFrom('tollgate_migrations').execute()
  expect(await tollgate(['migrate'])).toMatchObject({ code: 0 })
  const ids = serviceMigrations.migrations.map(({ id }) => id)
  const rows = await database.kysely.selectFrom('tollgate_migrations').selectAll().execute()
  expect(rows.map(({ id }) => id)).toEqual(expect.arrayContaining(ids))
})

// On SQLite, where timestamps are milliseconds, nobody has to be stopped.
it.runIf(process.env.TEST_DATABASE !== 'sqlite')(
  'tables from before there were timestamps are refused everywhere, until somebody says that nothing else runs',
  async () => {
    const users = {
      table: 'users',
      id: 'id',
      idType: 'integer',
      email: 'email',
      name: 'name',
    } as const
    const { name, migrations } = billingMigrations(users)
    await migrate(database, serviceMigrations)
    await kyselyStorage(database).migrate()
    const before = migrations.filter(({ id }) => id < '0004')
    await migrate(database, { name, migrations: before })
    const ada = { email: 'ada@example.com', email_key: 'ada@example.com', password_hash: 'none' }
    await database.kysely
      .insertInto('users')
      .values({
        id: 1,
        ...ada,
        operator: 0,
        demo: 0,
        created_at: 1,
        trial_ends_at: 1_764_000_000_123,
      })
      .execute()

    for (const args of [['migrate'], ['serve'], ['billing', 'sync', '--dry-run'], ['doctor']]) {
      const { code, stdout, stderr } = await tollgate(args)
      expect(code).not.toBe(0)
      expect(stdout + stderr).toMatch(
        /stop every process that uses th(is|e) database, then.*tollgate migrate --offline/i,
      )
    }
    const done = await tollgate(['migrate', '--offline'])
    expect(done).toMatchObject({ code: 0, stdout: expect.stringContaining('0004-timestamps') })
    const row = await database.kysely.selectFrom('users').selectAll().executeTakeFirstOrThrow()
    expect(row.trial_ends_at).toEqual(new Date(1_764_000_000_123))
    expect(await tollgate(['migrate'])).toMatchObject({ code: 0 })
  },
)

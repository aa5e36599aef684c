import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { addColumn, createColumnDefinitions, type Database, migrate } from '@tollgate/database'
import { kyselyStorage } from '@tollgate/oauth'
import { sql } from 'kysely'
import { afterAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { createTestDatabase } from '../../../test-support/create-test-database.ts'
import { describeSchema } from '../../../test-support/describe-schema.ts'
import { runCli } from '../src/program.ts'
import { serviceMigrations } from '../src/storage/migrations.ts'
import { serviceTables } from './support.ts'

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

async function tollgate(args: readonly string[], databaseUrl = url, columns?: number) {
  const out: string[] = []
  const err: string[] = []
  const environment = { DATABASE_URL: databaseUrl, TOLLGATE_DATA_DIR: folder, PORT: '0' }
  const code = await runCli(args, environment, {
    stdout: { write: (text) => void out.push(text), columns },
    stderr: { write: (text) => void err.push(text) },
  })
  return { code, stdout: out.join(''), stderr: err.join('') }
}

async function tables(): Promise<string[]> {
  return (await database.kysely.introspection.getTables()).map(({ name }) => name).sort()
}

/** Creates a `users` table that is not the service's. */
async function createOwnUsers(): Promise<void> {
  await database.kysely.schema
    .createTable('users')
    .addColumn('id', 'integer', (id) => id.primaryKey())
    .addColumn('login', 'varchar(64)')
    .execute()
  await database.kysely.insertInto('users').values({ id: 1, login: 'ada' }).execute()
}

const READING = [['client', 'list'], ['doctor'], ['billing', 'sync', '--dry-run']]

describe.each(READING)('tollgate %s %s', (...words) => {
  const args = words.filter((word) => word !== undefined)

  it('creates nothing in an empty database, and reports that the database is empty', async () => {
    const { code, stdout, stderr } = await tollgate(args)
    expect(code).not.toBe(0)
    expect(stdout + stderr).toMatch(/no (oauth|service) tables of Tollgate in this database/)
    expect(await tables()).toEqual([])
  })

  it('leaves the database of another application unchanged, and reports what the database contains', async () => {
    await createOwnUsers()
    const { code, stdout, stderr } = await tollgate(args)
    expect(code).not.toBe(0)
    expect(stdout + stderr).toContain("an application's own tables")
    expect(await tables()).toEqual(['users'])
  })
})

describe('tollgate migrate --plan', () => {
  it('prints statements that create the same tables as migrate, and changes nothing', async () => {
    const planned = await tollgate(['migrate', '--plan', '--json'])
    expect([planned.code, planned.stderr]).toEqual([0, ''])
    expect(await tables()).toEqual([])
    const { planned: migrations } = JSON.parse(planned.stdout) as {
      planned: { set: string; statements: string[]; needs_offline: boolean }[]
    }
    expect([...new Set(migrations.map(({ set }) => set))]).toEqual([
      'service',
      'oauth',
      'billing',
      'billing-team',
    ])
    const text = await tollgate(['migrate', '--plan'])
    expect(text.stdout).toMatch(/^-- service 0001-first-release\ncreate table .*;\n/)

    for (const { statements } of migrations) {
      // A remark about a column that is nullable in new tables.
      for (const each of statements.filter((text) => !text.startsWith('--'))) {
        await sql.raw(each).execute(database.kysely)
      }
    }
    const again = await tollgate(['migrate', '--plan'])
    expect([again.code, again.stdout]).toEqual([0, 'The database is up to date\n'])
    const migrated = await createTestDatabase({ template: serviceTables })
    onTestFinished(migrated.drop)
    for (const name of ['users', 'audit_entries', 'oauth_clients', 'subscriptions']) {
      const created = await describeSchema(migrated.database, name)
      expect(await describeSchema(database, name)).toEqual(created)
    }
  })

  it('rejects the option --offline, and the database of another application', async () => {
    const both = await tollgate(['migrate', '--plan', '--offline'])
    expect([both.code, both.stderr]).toEqual([2, expect.stringContaining('leave out --offline')])
    await createOwnUsers()
    const { code, stderr } = await tollgate(['migrate', '--plan'])
    expect([code, stderr]).toEqual([2, expect.stringContaining("an application's own tables")])
  })
})

describe('tollgate client list', () => {
  it('prints a table if the terminal is wide enough, and otherwise a block of lines for each client', async () => {
    expect((await tollgate(['migrate'])).code).toBe(0)
    const create = ['client', 'create', '--credentials', '--json']
    const ids: string[] = []
    for (const name of ['A long name for a narrow terminal', 'B']) {
      ids.push(JSON.parse((await tollgate([...create, '--name', name])).stdout).id)
    }
    const wide = await tollgate(['client', 'list'], url, 200)
    expect(wide.stdout).toMatch(/^ID +NAME +GRANTS +ORIGIN\n/)
    expect((await tollgate(['client', 'list'])).stdout).toBe(wide.stdout)
    const { stdout } = await tollgate(['client', 'list'], url, 60)
    const [one, two, ...more] = stdout.trimEnd().split('\n\n')
    expect(more).toEqual([])
    expect([one, two].join('\n\n')).toMatch(/^ID +\S+\nNAME +(A long .* terminal|B)\nGRANTS +\S+\n/)
    for (const id of ids) expect(stdout).toContain(id)
  })

  it("lists the clients of an application's authorization server, and creates nothing", async () => {
    await createOwnUsers()
    await kyselyStorage(database).migrate()
    const before = await tables()
    const { code, stdout } = await tollgate(['client', 'list'])
    expect([code, stdout]).toEqual([0, 'There are no clients\n'])
    expect(await tables()).toEqual(before)
    const keys = await database.kysely.selectFrom('oauth_keys').selectAll().execute()
    expect(keys).toEqual([])
  })

  it('reports tables of a newer version, and changes nothing', async () => {
    expect((await tollgate(['migrate'])).code).toBe(0)
    const row = { set: 'oauth', id: '9999-later', applied_at: Date.now() + 1000 }
    await database.kysely.insertInto('tollgate_migrations').values(row).execute()
    const newer = await tollgate(['client', 'list'])
    expect(newer.code).toBe(2)
    expect(newer.stderr).toContain('newer version of Tollgate (9999-later)')
  })

  it.each(['sqlite:', 'sqlite://', 'file:'])(
    'creates no database file for a URL that begins with %s',
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
])(
  'tollgate %s rejects the database of another application and changes nothing',
  async (_, args) => {
    await createOwnUsers()
    const { code, stderr } = await tollgate(args)
    expect(code).toBe(2)
    expect(stderr).toContain("an application's own tables")
    expect(await tables()).toEqual(['users'])
  },
)

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
  "tollgate %s changes only Tollgate's tables in the database of an application",
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
  'tollgate %s creates no tables in the database of an application without a `users` table',
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
] as const)('tollgate %s creates no tables in an empty database', async (_, args) => {
  const { code, stderr } = await tollgate(args)
  expect([code, stderr]).toEqual([2, expect.stringContaining('If so, run: tollgate migrate')])
  expect(await tables()).toEqual([])
})

it('every command rejects a database from before the first release, and changes nothing', async () => {
  expect((await tollgate(['migrate'])).code).toBe(0)
  await database.kysely
    .updateTable('tollgate_migrations')
    .set({ id: '0001-initial' })
    .where('set', '=', 'service')
    .execute()
  const read = () => database.kysely.selectFrom('tollgate_migrations').selectAll().execute()
  const before = await read()
  for (const args of [['migrate'], ['user', 'list'], ['keys', 'rotate'], ['doctor']]) {
    const { code, stdout, stderr } = await tollgate(args)
    expect([code === 0, stdout + stderr]).toEqual([false, expect.stringContaining('0001-initial')])
  }
  expect(await read()).toEqual(before)
})

it('tollgate migrate repeats a first migration that was interrupted', async () => {
  expect((await tollgate(['migrate'])).code).toBe(0)
  await database.kysely.deleteFrom('tollgate_migrations').execute()
  expect(await tollgate(['migrate'])).toMatchObject({ code: 0 })
  const ids = serviceMigrations.migrations.map(({ id }) => id)
  const rows = await database.kysely.selectFrom('tollgate_migrations').selectAll().execute()
  expect(rows.map(({ id }) => id)).toEqual(expect.arrayContaining(ids))
})

// On SQLite timestamps already are milliseconds, so no process has to be stopped.
it.runIf(process.env.TEST_DATABASE !== 'sqlite')(
  'tollgate migrate refuses to convert a column to milliseconds unless --offline confirms that no other process runs',
  async () => {
    await migrate(database, serviceMigrations)
    await kyselyStorage(database).migrate()
    const { instant } = createColumnDefinitions(database)
    await addColumn(database, 'users', 'trial_ends_at', instant.nullable())
    const ada = { email: 'ada@example.com', email_key: 'ada@example.com', password_hash: 'none' }
    await database.kysely
      .insertInto('users')
      .values({
        id: 1,
        ...ada,
        operator: 0,
        demo: 0,
        turns: 0,
        created_at: 1,
        trial_ends_at: 1_764_000_000_123,
      })
      .execute()

    for (const args of [['migrate'], ['serve']]) {
      const { code, stdout, stderr } = await tollgate(args)
      expect(code).not.toBe(0)
      expect(stdout + stderr).toMatch(
        /stop every process that uses th(is|e) database, then.*tollgate migrate --offline/i,
      )
    }
    const done = await tollgate(['migrate', '--offline'])
    expect(done).toMatchObject({ code: 0, stdout: expect.stringContaining('0001-first-release') })
    const row = await database.kysely.selectFrom('users').selectAll().executeTakeFirstOrThrow()
    expect(row.trial_ends_at).toEqual(new Date(1_764_000_000_123))
    expect(await tollgate(['migrate'])).toMatchObject({ code: 0 })
  },
)

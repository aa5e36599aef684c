import { readFile } from 'node:fs/promises'
import { createColumnDefinitions, createTable, migrate, readMigrations } from '@tollgate/database'
import { authorizationCode, createAuthorizationServer, oauthMigrations } from '@tollgate/oauth'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createTestDatabase,
  type TestDatabase,
} from '../../../test-support/create-test-database.ts'
import { describeSchema } from '../../../test-support/describe-schema.ts'
import { oauthTables } from '../src/storage/kysely/tables.ts'
import { SECRET, TestUsers } from './support.ts'

let migrated: TestDatabase
let defined: TestDatabase
beforeAll(async () => {
  migrated = await createTestDatabase()
  await migrate(migrated.database, oauthMigrations)
  defined = await createTestDatabase()
  for (const { name, describe } of oauthTables) {
    await createTable(defined.database, name, describe(createColumnDefinitions(defined.database)))
  }
})
afterAll(async () => {
  await migrated.drop()
  await defined.drop()
})

describe('the migrations', () => {
  it.each(oauthTables.map(({ name }) => name))(
    'create the table %s as the code defines it',
    async (name) => {
      const found = await describeSchema(migrated.database, name)
      expect(found).toEqual(await describeSchema(defined.database, name))
      expect(found).not.toEqual(await describeSchema(defined.database, 'nothing'))
    },
  )
})

// Written on SQLite, which stores the statement that created a table.
describe.runIf(process.env.TEST_DATABASE === 'sqlite')('a database of release 0.1.0', () => {
  let released: TestDatabase
  beforeAll(async () => {
    released = await createTestDatabase()
    const text = await readFile(new URL('released-schema.sql', import.meta.url), 'utf8')
    for (const statement of text.split(';\n').filter(Boolean)) {
      await sql.raw(statement).execute(released.database.kysely)
    }
    await migrate(released.database, oauthMigrations)
  })
  afterAll(() => released.drop())

  it.each(oauthTables.map(({ name }) => name))(
    'is migrated to the current definition of the table %s',
    async (name) => {
      const found = await describeSchema(released.database, name)
      expect(found).toEqual(await describeSchema(defined.database, name))
    },
  )
})

describe('the `migrate: false` option', () => {
  const serverOn = ({ database }: TestDatabase) =>
    createAuthorizationServer({
      issuer: 'http://localhost',
      secret: SECRET,
      database,
      users: new TestUsers(),
      grants: [authorizationCode()],
      migrate: false,
      purgeEvery: false,
    })

  it('starts with existing tables', async () => {
    const oauth = serverOn(migrated)
    await oauth.ready()
    oauth.close()
  })

  it('creates no tables, and fails with an explanation if tables are missing', async () => {
    const empty = await createTestDatabase()
    const oauth = serverOn(empty)
    await expect(oauth.ready()).rejects.toMatchObject({ code: 'TOLLGATE_SCHEMA_TOO_OLD' })
    expect((await readMigrations(empty.database)).size).toBe(0)
    oauth.close()
    await empty.drop()
  })
})

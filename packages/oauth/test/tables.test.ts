import { createColumns, createTable, migrate, readMigrations } from '@tollgate/database'
import { authorizationCode, createAuthorizationServer, oauthMigrations } from '@tollgate/oauth'
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
    await createTable(defined.database, name, describe(createColumns(defined.database)))
  }
})
afterAll(async () => {
  await migrated.drop()
  await defined.drop()
})

describe('the migrations lead to the tables as they are defined', () => {
  it.each(oauthTables.map(({ name }) => name))('%s', async (name) => {
    const found = await describeSchema(migrated.database, name)
    expect(found).toEqual(await describeSchema(defined.database, name))
    expect(found).not.toEqual(await describeSchema(defined.database, 'nothing'))
  })
})

describe('migrate: false', () => {
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

  it('starts on tables that somebody has made', async () => {
    const oauth = serverOn(migrated)
    await oauth.ready()
    oauth.close()
  })

  it('makes none, and says what to do', async () => {
    const empty = await createTestDatabase()
    const oauth = serverOn(empty)
    await expect(oauth.ready()).rejects.toMatchObject({ code: 'TOLLGATE_SCHEMA_TOO_OLD' })
    expect((await readMigrations(empty.database)).size).toBe(0)
    oauth.close()
    await empty.drop()
  })
})

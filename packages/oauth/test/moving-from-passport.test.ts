import { createHash } from 'node:crypto'
import type { Database } from '@tollgate/database'
import { expect, it, onTestFinished } from 'vitest'
import { createTestDatabase } from '../../../test-support/create-test-database.ts'
import { importFromDocs } from '../../../test-support/docs-module.ts'
import { createAuthorizationServer, password, refreshToken } from '../src/index.ts'

const BCRYPT = '$2y$10$abcdefghijklmnopqrstuuDkDpWX2ZQZ0qg7x1wq1n3nBvV5yK0cK'

/** Creates the table of Passport 12, with the columns that the guide reads. */
async function createPassportTable({ kysely, dialect }: Database): Promise<void> {
  await kysely.schema
    .createTable('oauth_clients')
    .addColumn('id', dialect.name === 'sqlite' ? 'integer' : 'bigint', (column) =>
      column.primaryKey(),
    )
    .addColumn('user_id', 'bigint')
    .addColumn('name', 'varchar(255)')
    .addColumn('secret', 'varchar(100)')
    .addColumn('redirect', 'text')
    .addColumn('personal_access_client', 'smallint')
    .addColumn('password_client', 'smallint')
    .addColumn('revoked', 'smallint')
    .execute()
  const row = {
    user_id: null,
    redirect: '',
    personal_access_client: 0,
    password_client: 0,
    revoked: 0,
  }
  await kysely
    .insertInto('oauth_clients')
    .values([
      { ...row, id: 1, name: 'Personal', secret: 'p', personal_access_client: 1 },
      { ...row, id: 2, name: 'Our app', secret: 'plain-secret', password_client: 1 },
      {
        ...row,
        id: 3,
        user_id: 7,
        name: 'Acme',
        secret: BCRYPT,
        redirect: 'https://a.example/cb,app://x',
      },
      { ...row, id: 4, name: 'Phone', secret: null, redirect: 'app://phone' },
      { ...row, id: 5, name: 'Gone', secret: 'x', revoked: 1 },
    ])
    .execute()
}

it('the SQL in the migration guide converts the OAuth clients of Laravel Passport', async () => {
  const { database, drop } = await createTestDatabase()
  onTestFinished(drop)
  await createPassportTable(database)
  const { moveFromPassport } = await importFromDocs<{
    moveFromPassport(database: Database): Promise<string[]>
  }>('docs/guides/coming-from-laravel.md', 'moveFromPassport')
  expect(await moveFromPassport(database)).toEqual(['3'])

  const oauth = createAuthorizationServer({
    issuer: 'https://api.example.com',
    secret: createHash('sha256').update('a test').digest('hex'),
    database,
    users: {
      findById: async (id) => ({ id }),
      findByCredentials: async (id) => ({ id }),
      fromRequest: async () => null,
    },
    grants: [password(), refreshToken()],
  })
  onTestFinished(() => oauth.close())
  const token = (id: string, secret: string) =>
    oauth.fetch(
      new Request('https://api.example.com/oauth/token', {
        method: 'POST',
        body: new URLSearchParams({
          grant_type: 'password',
          client_id: id,
          client_secret: secret,
          username: 'ada',
          password: 'x',
        }),
      }),
    )
  expect((await token('2', 'plain-secret')).status).toBe(200)
  expect((await token('2', 'another-secret')).status).toBe(401)
  expect((await token('3', BCRYPT)).status).toBe(401)
  const { secret } = await oauth.clients.rotateSecret('3')
  expect(secret).toMatch(/^tgs_/)
  expect(await oauth.clients.find('3')).toMatchObject({
    userId: '7',
    name: 'Acme',
    redirectUris: ['https://a.example/cb', 'app://x'],
    grantTypes: ['authorization_code', 'refresh_token'],
  })
  expect(await oauth.clients.find('4')).toMatchObject({ confidential: false, secretHash: null })
  expect(await oauth.clients.find('1')).toBeNull()
  expect(await oauth.clients.find('5')).toBeNull()
})

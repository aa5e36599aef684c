import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createTestDatabase,
  type TestDatabase,
} from '../../../../test-support/create-test-database.ts'
import { ADA, APP, createOwnTables, run } from './run.ts'

let test: TestDatabase
beforeAll(async () => {
  test = await createTestDatabase()
  await createOwnTables(test)
})
afterAll(() => test.drop())

const tollgate = (...args: string[]) =>
  run(['--config', APP, ...args], { APP_DATABASE_URL: test.url })

async function tables(): Promise<string[]> {
  return (await test.database.kysely.introspection.getTables()).map(({ name }) => name).sort()
}

const audits = (stderr: string) =>
  [...stderr.matchAll(/^audit: (.*)$/gm)].map(([, line]) => JSON.parse(line ?? '').audit)

describe('tollgate --config, with the instances of an application,', () => {
  it('creates no tables before `migrate`, and says how to create them', async () => {
    const before = await tables()
    for (const args of [['client', 'list'], ['client', 'create', '--name', 'A'], ['purge']]) {
      const { code, stderr } = await tollgate(...args)
      expect([code, stderr]).toEqual([
        2,
        expect.stringContaining(`run: tollgate --config ${APP} migrate`),
      ])
    }
    expect(await tables()).toEqual(before)
  })

  it('`migrate --plan` prints the statements for its tables, and changes nothing', async () => {
    const before = await tables()
    const { code, stdout } = await tollgate('migrate', '--plan')
    expect(code).toBe(0)
    expect(stdout).toMatch(/^-- oauth 0001-first-release\n/)
    expect(stdout).toMatch(/^-- billing 0001-first-release$[\s\S]*^alter table .users. add column/m)
    expect(stdout).toMatch(/subscriptions\W.*user_id.* (nullable$|drop not null;)/m)
    expect(stdout).not.toContain('audit_entries')
    expect(await tables()).toEqual(before)
  })

  it('`migrate` creates the tables of the libraries, and none of the service', async () => {
    const { code, json } = await tollgate('migrate', '--json')
    expect(code).toBe(0)
    expect(json().applied).toContain('0001-first-release')
    const found = await tables()
    expect(found).toEqual(expect.arrayContaining(['oauth_clients', 'subscriptions', 'users']))
    expect(found).not.toContain('audit_entries')
    const columns = (await test.database.kysely.introspection.getTables())
      .find(({ name }) => name === 'users')
      ?.columns.map(({ name }) => name)
    expect(columns).toEqual(expect.arrayContaining(['key', 'login', 'label', 'provider_id']))
    expect(columns).not.toContain('email_key')
    const again = await tollgate('migrate')
    expect([again.code, again.stdout]).toEqual([0, 'The database is up to date\n'])
  })

  it('registers, lists, changes and deletes clients of users with UUIDs, and logs each change', async () => {
    const created = await tollgate(
      ...['--as', 'night shift', 'client', 'create', '--name', 'Shop', '--user', ADA],
      ...['--redirect', 'https://shop.example/callback', '--json'],
    )
    expect(created.code).toBe(0)
    const { id, secret } = created.json()
    expect(secret).toEqual(expect.any(String))
    expect(audits(created.stderr)).toEqual([
      expect.objectContaining({ operation: 'clients.create', actor: expect.anything() }),
    ])
    expect(created.stderr).toContain('night shift')
    expect(created.stderr).not.toContain(secret)

    const listed = await tollgate('client', 'list', '--user', ADA, '--json')
    expect(listed.json()).toEqual([expect.objectContaining({ id, name: 'Shop', user_id: ADA })])
    const changed = await tollgate('client', 'update', id, '--name', 'Market', '--json')
    expect(changed.json()).toMatchObject({ name: 'Market', user_id: ADA })
    expect((await tollgate('client', 'secret', id)).stdout).toContain('The old secret works until')
    expect((await tollgate('client', 'revoke', id)).code).toBe(0)
    const shown = await tollgate('client', 'show', id, '--json')
    expect(shown.json().revoked_at).not.toBeNull()
    const { code, stderr } = await tollgate('client', 'show', 'nobody')
    expect([code, stderr]).toEqual([2, expect.stringContaining('There is no such client')])
  })

  it('passes each change to the listeners of both instances, and waits for them', async () => {
    const { code, stderr } = await tollgate('keys', 'rotate', '--immediately')
    const entries = audits(stderr)
    expect([code, entries.map(({ outcome }) => outcome)]).toEqual([0, ['started', 'done']])
    for (const { id, outcome } of entries) {
      expect(stderr).toContain(`oauth event: ${outcome} keys.rotate ${id}\n`)
      expect(stderr).toContain(`billing event: ${outcome} keys.rotate ${id}\n`)
    }
    expect(stderr).toContain('A listener of AuditEntryAdded failed')
  })

  it('emits no event for a command that only reads, and none for a change that was rejected', async () => {
    const { code, stderr } = await tollgate('client', 'list')
    expect([code, stderr]).toEqual([0, ''])
    const missing = await tollgate('client', 'revoke', 'nobody')
    expect(missing.code).not.toBe(0)
    expect(missing.stderr).not.toContain('event:')
  })

  it('rotates and lists the signing keys, and purges the rows of both libraries', async () => {
    const rotated = await tollgate('keys', 'rotate', '--immediately', '--json')
    expect(rotated.code).toBe(0)
    const keys = await tollgate('keys', 'list', '--json')
    expect(keys.json()).toEqual(
      expect.arrayContaining([expect.objectContaining({ kid: rotated.json().kid })]),
    )
    const purged = await tollgate('purge', '--json')
    expect(purged.json()).toMatchObject({ tokens: 0, webhooks: 0, events: 0 })
    expect((await tollgate('keys', 'reseal')).stdout).toContain('option `secret`')
  })

  it.each([
    [['user', 'list'], 'Accounts belong to the application'],
    [['audit', 'list'], 'An application has no audit log'],
    [['serve'], 'Leave out --config'],
    [
      ['client', 'create', '--name', 'A', '--management', '--scope', 'admin.users:read'],
      'management API of the service',
    ],
    [['client', 'create', '--name', 'A', '--device'], 'device_code'],
  ])('rejects %j and names the alternative', async (args, message) => {
    const { code, stderr } = await tollgate(...args)
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
  })
})

import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  createTestDatabase,
  type TestDatabase,
} from '../../../../test-support/create-test-database.ts'
import {
  type Acknowledged,
  createClient,
  issue,
  killAll,
  refreshCall,
  startService,
} from './service.ts'

let test: TestDatabase
beforeEach(async () => {
  test = await createTestDatabase()
})
afterEach(async () => {
  await killAll()
  await test.drop()
})

describe('a process that is killed (threat F1)', () => {
  it('loses no token it has returned, and leaves no incomplete rows, if it was issuing and refreshing tokens', async () => {
    const keeper = await startService(test.url)
    const client = await createClient(keeper)
    const acknowledged: Acknowledged[] = []
    for (let round = 0; round < 4; round += 1) {
      const victim = await startService(test.url)
      victim.ask('load', { client, atOnce: 6 }).catch(() => {})
      await expect
        .poll(() => victim.acknowledged.length, { timeout: 60_000, interval: 5 })
        .toBeGreaterThan(40 + round * 17)
      await victim.kill()
      acknowledged.push(...victim.acknowledged)
    }
    const restarted = await startService(test.url)
    const rows = await test.database.kysely.selectFrom('oauth_tokens').selectAll().execute()
    const byId = new Map(rows.map((row) => [String(row.id), row]))
    const latest = new Map<string, Acknowledged>()
    for (const entry of acknowledged) {
      const [id = '', generation] = entry.refresh_token.slice(4).split('.')
      const row = byId.get(id)
      expect(row, `the token ${id} was acknowledged`).toBeDefined()
      expect(row?.revoked_at).toBeNull()
      // One more may have been stored without having been acknowledged.
      expect(Number(row?.generation)).toBeGreaterThanOrEqual(Number(generation))
      const before = latest.get(id)
      if (!before || before.generation < entry.generation) latest.set(id, entry)
    }
    for (const [id, entry] of latest) {
      expect(Number(byId.get(id)?.generation)).toBeLessThanOrEqual(entry.generation + 1)
      expect(await restarted.guard(entry.access_token)).toBe(200)
    }
    // If no later one was stored, the client continues with the one it has.
    const present = [...latest].filter(
      ([id, { generation }]) => Number(byId.get(id)?.generation) === generation,
    )
    expect(present.length).toBeGreaterThan(0)
    for (const [, { refresh_token }] of present.slice(-3)) {
      expect((await restarted.send(refreshCall(client, refresh_token))).status).toBe(200)
    }
    const codes = await test.database.kysely
      .selectFrom('oauth_authorization_codes')
      .selectAll()
      .execute()
    expect(codes.some((code) => code.used_at !== null)).toBe(true)
    for (const code of codes) {
      expect(byId.has(String(code.token_id))).toBe(code.used_at !== null)
    }
    for (const row of rows) {
      expect(Number(row.live_until)).toBeGreaterThanOrEqual(Number(row.expires_at))
      expect(Number(row.live_until)).toBeGreaterThanOrEqual(Number(row.refresh_expires_at))
    }
  })

  it('loses no revocation it has confirmed', async () => {
    const first = await startService(test.url)
    const client = await createClient(first)
    const tokens = await Promise.all(
      Array.from({ length: 30 }, (_, i) => issue(first, client, `user${i}`)),
    )
    const ended: string[] = []
    const revoking = tokens.map((token, i) =>
      first.call('revokeUser', `user${i}`).then(
        () => ended.push(token.access_token),
        () => {},
      ),
    )
    await expect.poll(() => ended.length, { interval: 1 }).toBeGreaterThan(5)
    await first.kill()
    await Promise.all(revoking)
    const restarted = await startService(test.url)
    for (const text of ended) expect(await restarted.guard(text)).toBe(401)
    // The others are consistent: either revoked and published, or alive.
    const rows = await test.database.kysely.selectFrom('oauth_tokens').selectAll().execute()
    const news = await test.database.kysely.selectFrom('oauth_revocations').selectAll().execute()
    const announced = new Set(
      news.filter(({ kind }) => kind === 'token').map(({ subject }) => String(subject)),
    )
    for (const row of rows) expect(announced.has(String(row.id))).toBe(row.revoked_at !== null)
  })
})

describe('an empty database (threat F1)', () => {
  it('gets a single signing key, and each migration runs once, if several processes start concurrently', async () => {
    const services = await Promise.all([1, 2, 3].map(() => startService(test.url)))
    const keys = await test.database.kysely.selectFrom('oauth_keys').selectAll().execute()
    expect(keys).toHaveLength(1)
    const migrations = await test.database.kysely
      .selectFrom('tollgate_migrations')
      .selectAll()
      .execute()
    const names = migrations.map(({ set, id }) => `${set} ${id}`)
    expect(new Set(names).size).toBe(names.length)
    expect(names).toContain('oauth 0001-first-release')
    const [first] = services
    if (!first) throw new Error('There is no process')
    const client = await createClient(first)
    for (const from of services) {
      const { access_token } = await issue(from, client)
      for (const to of services) expect(await to.guard(access_token)).toBe(200)
    }
    // The client of personal access tokens is created on first use, by whichever process is first.
    const made = await Promise.all(
      services.map((service) =>
        service.call<{ accessToken: string }>('tokens.createPersonal', {
          userId: 'ada',
          name: 'x',
        }),
      ),
    )
    for (const { result } of made) expect(await first.guard(result.accessToken)).toBe(200)
  })
})

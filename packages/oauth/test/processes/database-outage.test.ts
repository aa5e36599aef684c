import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  createTestDatabase,
  type TestDatabase,
} from '../../../../test-support/create-test-database.ts'
import { startTcpProxy, type TcpProxy } from '../../../../test-support/tcp-proxy.ts'
import {
  createClient,
  issue,
  killAll,
  refreshCall,
  type Service,
  startService,
  type TestClient,
} from './service.ts'

/** The default of applications. Other tests wait longer, because CI machines can be slow. */
const DEFAULT_TIMEOUT = { timeout: 1500 }

/** SQLite has no server that could fail; packages/database/test/outage.test.ts covers its file. */
const isServer = process.env.TEST_DATABASE !== 'sqlite'

describe.runIf(isServer)('a database outage (threat F2)', () => {
  let test: TestDatabase
  let proxy: TcpProxy
  let near: Service
  let cutOff: Service
  let client: TestClient
  beforeEach(async () => {
    test = await createTestDatabase()
    near = await startService(test.url)
    proxy = await startTcpProxy(test.url)
    cutOff = await startService(proxy.url, DEFAULT_TIMEOUT)
    client = await createClient(near)
  })
  afterEach(async () => {
    await killAll()
    await proxy.close()
    await test.drop()
  })

  const ways: ReadonlyArray<[string, () => Promise<void>]> = [
    ['refuses connections', () => proxy.cut()],
    ['does not answer', async () => proxy.stall()],
  ]
  it.each(ways)(
    'leads to 503, does not make a revoked token valid, and has no lasting effect, if the database %s',
    {
      timeout: 120_000,
    },
    async (_, takeAway) => {
      const kept = await issue(near, client)
      const revoked = await issue(near, client, 'bob')
      const unseen = await issue(near, client, 'eve')
      for (const { access_token } of [kept, revoked]) {
        expect(await cutOff.guard(access_token)).toBe(200)
      }
      await takeAway()
      const { at } = await near.call('revokeUser', 'bob')
      for (let round = 0; round < 25; round += 1) {
        const sentAt = Date.now()
        const [known, gone, fresh] = await Promise.all(
          [kept, revoked, unseen].map(({ access_token }) => cutOff.guardNow(access_token)),
        )
        expect([200, 503]).toContain(known)
        expect([200, 503]).toContain(fresh)
        if (sentAt - at > 1000) expect([known, gone, fresh]).toEqual([503, 503, 503])
        await new Promise((resolve) => setTimeout(resolve, 60))
      }
      // An unknown key id makes the process read the keys, which must not crash it.
      const stranger = `${Buffer.from('{"kid":"x"}').toString('base64url')}.e30.AA`
      expect(await cutOff.guardNow(stranger)).toBe(503)
      const calls = [
        refreshCall(client, kept.refresh_token),
        { path: '/oauth/token', form: { client_id: client.id, client_secret: 'wrong' } },
        {
          path: '/oauth/introspect',
          form: { ...refreshCall(client, '').form, token: kept.access_token },
        },
        {
          path: '/oauth/revoke',
          form: { ...refreshCall(client, '').form, token: kept.access_token },
        },
        { path: `/oauth/authorize?client_id=${client.id}&response_type=code` },
      ]
      for (const reply of await cutOff.burst(calls)) {
        expect(reply.status).toBe(503)
        if (reply.body.error) expect(reply.body.error).toBe('temporarily_unavailable')
      }
      await proxy.heal()
      expect(await cutOff.guard(kept.access_token)).toBe(200)
      expect(await cutOff.guard(revoked.access_token)).toBe(401)
      expect(await cutOff.guard(unseen.access_token)).toBe(200)
      expect((await cutOff.send(refreshCall(client, kept.refresh_token))).status).toBe(200)
    },
  )

  it('makes the start of a server fail, and the next start succeeds', async () => {
    const tokens = await issue(near, client)
    await proxy.cut()
    await expect(startService(proxy.url, DEFAULT_TIMEOUT)).rejects.toThrow(/did not start/)
    await proxy.heal()
    const late = await startService(proxy.url)
    expect(await late.guard(tokens.access_token)).toBe(200)
  })
})

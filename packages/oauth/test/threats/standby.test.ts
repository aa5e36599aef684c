import { setTimeout as sleep } from 'node:timers/promises'
import { connect, isUnavailable } from '@tollgate/database'
import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  findMariadb,
  type MariadbReplication,
  startMariadbReplication,
} from '../../../../test-support/mariadb-server.ts'
import {
  type PostgresPrimary,
  type PostgresStandby,
  startPostgresServer,
} from '../../../../test-support/postgres-server.ts'
import { startTcpProxy, type TcpProxy } from '../../../../test-support/tcp-proxy.ts'
import { kyselyStorage, type Storage } from '../../src/index.ts'
import { buildSessionCookie, REDIRECT, startServer } from '../support.ts'
import { type AppProcess, startProcess } from './replicated.ts'

const isPostgres = process.env.TEST_DATABASE === 'postgres'
const mariadb = process.env.TEST_DATABASE === 'mariadb' ? findMariadb() : null
if (process.env.TEST_DATABASE === 'mariadb' && !mariadb) {
  console.log('Replicas of MariaDB are left out: install mariadb-server, or use .ci/run')
}

describe.runIf(isPostgres)(
  'a standby server that lags behind, at the configured database address,',
  () => {
    let primary: PostgresPrimary
    let standby: PostgresStandby
    let proxy: TcpProxy
    /** A process that is connected to the primary directly. */
    let near: AppProcess
    const started: AppProcess[] = []

    async function start(...given: Parameters<typeof startProcess>): Promise<AppProcess> {
      const process = await startProcess(...given)
      started.push(process)
      return process
    }

    beforeAll(async () => {
      primary = await startPostgresServer()
      standby = await primary.startStandby()
    })
    beforeEach(async () => {
      near = await start(primary.url)
      await near.oauth.ready()
      proxy = await startTcpProxy(primary.url)
    })
    afterEach(async () => {
      for (const process of started.splice(0)) await process.close()
      await proxy.close()
      await standby.resume()
    })
    afterAll(async () => {
      await standby.remove()
      await primary.remove()
    })

    async function newToken() {
      const { accessToken, token } = await near.oauth.tokens.createPersonal({
        userId: 'ada',
        name: 'script',
      })
      return { text: accessToken, id: token.id }
    }

    /**
     * Redirects the address to a standby that has replicated everything so far, and stops its
     * replication.
     */
    async function fallBehind(): Promise<void> {
      await standby.resume()
      await standby.catchUp()
      await standby.pause()
      proxy.leadTo(standby.url)
      await proxy.heal()
    }

    async function recover(): Promise<void> {
      proxy.leadTo(primary.url)
      await proxy.heal()
    }

    it('makes the guard refuse every token, so that no revoked one is accepted, and is logged once (threat Q5)', async () => {
      const far = await start(proxy.url)
      const revoked = await newToken()
      const kept = await newToken()
      for (const { text } of [revoked, kept]) expect(await far.statusOf(text)).toBe(200)
      await fallBehind()
      await near.oauth.tokens.revoke(revoked.id)
      await expect.poll(() => far.statusOf(revoked.text)).toBe(503)
      for (let i = 0; i < 10; i += 1) {
        expect(await far.statusOf(revoked.text)).toBe(503)
        expect(await far.statusOf(kept.text)).toBe(503)
      }
      expect(far.errors.filter((text) => text.includes('standby'))).toHaveLength(1)
      await recover()
      await expect.poll(() => far.statusOf(kept.text)).toBe(200)
      expect(await far.statusOf(revoked.text)).toBe(401)
      expect(far.errors.filter((text) => text.includes('standby'))).toHaveLength(1)
      expect(far.warnings.filter((text) => text.includes('primary again'))).toHaveLength(1)
    })

    it('makes a process that starts with it refuse every token (threat Q5)', async () => {
      const revoked = await newToken()
      await fallBehind()
      await near.oauth.tokens.revoke(revoked.id)
      await expect(connect(proxy.url)).rejects.toSatisfy(isUnavailable)
      await expect(connect(proxy.url)).rejects.toThrow('standby')
      // Connected in time, started too late.
      await recover()
      const late = await start(proxy.url)
      await fallBehind()
      for (let i = 0; i < 10; i += 1) expect(await late.statusOf(revoked.text)).toBe(503)
      await recover()
      await expect.poll(() => late.statusOf(revoked.text)).toBe(401)
    })

    it('makes every route respond with 503, whether it reads or writes (threat Q5)', async () => {
      const jwt = await start(proxy.url)
      const opaque = await start(proxy.url, { accessTokenFormat: 'opaque' })
      const { client, secret } = await near.oauth.clients.create({
        name: 'App',
        redirect: REDIRECT,
        firstParty: true,
        grants: ['authorization_code', 'refresh_token', 'password', 'client_credentials'],
      })
      const credentials = { client_id: client.id, client_secret: secret ?? '' }
      const user = { username: 'ada@example.com', password: 'correct horse' }
      for (const far of [jwt, opaque]) {
        const signIn = { grant_type: 'password', ...credentials, ...user, scope: 'openid' }
        const reply = await far.post('/oauth/token', signIn)
        const tokens = (await reply.json()) as { access_token: string; refresh_token: string }
        const token = tokens.access_token
        const authorization = `Bearer ${token}`
        const query = { client_id: client.id, redirect_uri: REDIRECT, response_type: 'code' }
        const ask = async (path: string, headers: Record<string, string>) =>
          far.oauth.fetch(new Request(`http://localhost:4999${path}`, { headers }))
        await fallBehind()
        await expect.poll(() => far.statusOf(token)).toBe(503)
        const refresh = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token }
        const exchange = { grant_type: 'authorization_code', code: 'x', redirect_uri: REDIRECT }
        const replies = {
          introspect: await far.post('/oauth/introspect', { ...credentials, token }),
          revoke: await far.post('/oauth/revoke', { ...credentials, token }),
          refresh: await far.post('/oauth/token', { ...credentials, ...refresh }),
          exchange: await far.post('/oauth/token', { ...credentials, ...exchange }),
          password: await far.post('/oauth/token', signIn),
          userinfo: await ask('/oauth/userinfo', { authorization }),
          authorize: await ask(`/oauth/authorize?${new URLSearchParams(query)}`, {
            cookie: buildSessionCookie('ada'),
          }),
        }
        const statuses = Object.entries(replies).map(([name, { status }]) => `${name} ${status}`)
        expect(statuses).toEqual(Object.keys(replies).map((name) => `${name} 503`))
        expect(replies.introspect.headers.get('retry-after')).not.toBeNull()
        await recover()
        await expect.poll(() => far.statusOf(token)).toBe(200)
      }
    })

    it('is detected if the connection that reads the revocation feed leads to it, even if other connections lead to the primary (threat Q5)', async () => {
      const far = await start(proxy.url)
      const revoked = await newToken()
      expect(await far.statusOf(revoked.text)).toBe(200)
      await standby.catchUp()
      await standby.pause()
      // Later connections lead to the standby; existing ones stay.
      proxy.leadTo(standby.url)
      const find = () => sql`select count(*) from oauth_tokens`.execute(far.database.kysely)
      const many = await Promise.allSettled(Array.from({ length: 9 }, find))
      const refused = many.filter(({ status }) => status === 'rejected')
      expect(refused.length).toBeGreaterThan(0)
      for (const each of refused)
        expect((each as PromiseRejectedResult).reason).toSatisfy(isUnavailable)
      await near.oauth.tokens.revoke(revoked.id)
      await expect.poll(() => far.statusOf(revoked.text)).not.toBe(200)
      for (let i = 0; i < 10; i += 1) expect(await far.statusOf(revoked.text)).not.toBe(200)
    })

    it('makes the guard refuse every token, even over connections that stay open, if the primary becomes read-only (threat Q5)', async () => {
      const kept = await newToken()
      const admin = new pg.Client(primary.url)
      await admin.connect()
      const become = async (readOnly: 'on' | 'off') => {
        await admin.query('set default_transaction_read_only = off')
        await admin.query(`alter system set default_transaction_read_only = ${readOnly}`)
        await admin.query('select pg_reload_conf()')
      }
      try {
        expect(await near.statusOf(kept.text)).toBe(200)
        await become('on')
        await expect.poll(() => near.statusOf(kept.text)).toBe(503)
        for (let i = 0; i < 10; i += 1) expect(await near.statusOf(kept.text)).toBe(503)
        expect(near.errors.filter((text) => text.includes('is read-only'))).toHaveLength(1)
      } finally {
        await become('off')
        await admin.end()
      }
      await expect.poll(() => near.statusOf(kept.text)).toBe(200)
    })

    it('no longer affects the server once it has become the primary (threat Q5)', async () => {
      const far = await start(proxy.url)
      const kept = await newToken()
      const revoked = await newToken()
      await near.oauth.tokens.revoke(revoked.id)
      await fallBehind()
      await expect.poll(() => far.statusOf(kept.text)).toBe(503)
      const other = await primary.startStandby()
      try {
        await other.promote()
        proxy.leadTo(other.url)
        await proxy.heal()
        await expect.poll(() => far.statusOf(kept.text)).toBe(200)
        expect(await far.statusOf(revoked.text)).toBe(401)
      } finally {
        await far.close()
        started.splice(started.indexOf(far), 1)
        await other.remove()
      }
    })
  },
)

describe.runIf(isPostgres)(
  'a database that receives the revocation feed by logical replication',
  () => {
    let publisher: PostgresPrimary
    let subscriber: PostgresPrimary
    beforeAll(async () => {
      publisher = await startPostgresServer(['wal_level=logical'])
      subscriber = await startPostgresServer()
    })
    afterAll(async () => {
      await subscriber.remove()
      await publisher.remove()
    })

    it('makes the guard refuse every token, although it is writable, until the replication is removed (threat Q5)', async () => {
      const near = await startProcess(publisher.url)
      const far = await startProcess(subscriber.url)
      const ask = (on: AppProcess, text: string) => sql.raw(text).execute(on.database.kysely)
      try {
        await near.oauth.ready()
        // Its tables exist; all their rows come from the publisher.
        await kyselyStorage(far.database).migrate()
        const { accessToken, token } = await near.oauth.tokens.createPersonal({
          userId: 'ada',
          name: 'script',
        })
        const names = 'oauth_keys, oauth_tokens, oauth_clients, oauth_revocations'
        await ask(near, `create publication feed for table ${names}`)
        await ask(near, `select pg_create_logical_replication_slot('feed', 'pgoutput')`)
        const { hostname, port } = new URL(publisher.url)
        await ask(
          far,
          `create subscription feed connection 'host=${hostname} port=${port} user=postgres dbname=postgres'
          publication feed with (create_slot = false, slot_name = 'feed')`,
        )
        await expect
          .poll(async () => (await ask(far, 'select 1 from oauth_keys')).rows)
          .not.toEqual([])
        for (let i = 0; i < 10; i += 1) expect(await far.statusOf(accessToken)).toBe(503)
        expect(far.errors.join()).toContain('by logical replication')
        await near.oauth.tokens.revoke(token.id)
        await expect
          .poll(async () => (await ask(far, 'select 1 from oauth_revocations')).rows.length)
          .toBe(1)
        await ask(far, 'alter subscription feed disable')
        await ask(far, 'alter subscription feed set (slot_name = none)')
        await ask(far, 'drop subscription feed')
        await expect.poll(() => far.statusOf(accessToken)).toBe(401)
      } finally {
        await far.close()
        await near.close()
      }
    })
  },
)

describe.runIf(mariadb)('a MariaDB replica', () => {
  let replication: MariadbReplication
  let near: AppProcess
  const started: AppProcess[] = []
  beforeAll(async () => {
    replication = await startMariadbReplication(mariadb ?? '')
  })
  beforeEach(async () => {
    near = await startProcess(replication.primary.url)
    await near.oauth.ready()
  })
  afterEach(async () => {
    for (const process of [near, ...started.splice(0)]) await process.close()
    await replication.resume().catch(() => {})
  })
  afterAll(() => replication.remove())

  async function newToken() {
    const { accessToken, token } = await near.oauth.tokens.createPersonal({
      userId: 'ada',
      name: 'script',
    })
    return { text: accessToken, id: token.id }
  }

  /**
   * Starts a process behind a proxy that sends reads of the feed to the replica, and everything
   * else to the primary.
   */
  async function startSplit(): Promise<AppProcess> {
    const reads = await startProcess(replication.replica.url)
    const writes = await startProcess(replication.primary.url)
    started.push(reads, writes)
    const { readFrom } = kyselyStorage(reads.database).revocations
    const primary = kyselyStorage(writes.database)
    const storage: Storage = { ...primary, revocations: { ...primary.revocations, readFrom } }
    const split = await startProcess(replication.primary.url, { storage })
    started.push(split)
    return split
  }

  it('makes the guard refuse every token if it is read-only, even over connections that stay open (threat Q5)', async () => {
    const kept = await newToken()
    expect(await near.statusOf(kept.text)).toBe(200)
    // A planned failover does this to the old primary.
    await replication.primary.ask('set global read_only = 1')
    try {
      await expect.poll(() => near.statusOf(kept.text)).toBe(503)
      for (let i = 0; i < 10; i += 1) expect(await near.statusOf(kept.text)).toBe(503)
      expect(near.errors.filter((text) => text.includes('read-only'))).toHaveLength(1)
      await expect(connect(replication.primary.url)).rejects.toThrow('is read-only')
    } finally {
      await replication.primary.ask('set global read_only = 0')
    }
    await expect.poll(() => near.statusOf(kept.text)).toBe(200)
    expect(near.warnings.filter((text) => text.includes('primary again'))).toHaveLength(1)
  })

  it('is detected by the missing heartbeat if it is writable and lags behind (threat Q5)', async () => {
    await replication.catchUp()
    const split = await startSplit()
    const revoked = await newToken()
    const kept = await newToken()
    for (const { text } of [revoked, kept]) expect(await split.statusOf(text)).toBe(200)
    await replication.catchUp()
    await replication.pause()
    await near.oauth.tokens.revoke(revoked.id)
    await expect.poll(() => split.statusOf(revoked.text)).toBe(503)
    for (let i = 0; i < 10; i += 1) expect(await split.statusOf(revoked.text)).toBe(503)
    const behind = () => split.errors.filter((text) => text.includes('behind'))
    expect(behind()).toHaveLength(1)
    await replication.resume()
    await expect.poll(() => split.statusOf(revoked.text)).toBe(401)
    await expect.poll(() => split.statusOf(kept.text)).toBe(200)
    expect(behind()).toHaveLength(1)
  })

  it('makes a process that has just started refuse every token if it is writable and lags behind (threat Q5)', async () => {
    const revoked = await newToken()
    await replication.catchUp()
    await replication.pause()
    await near.oauth.tokens.revoke(revoked.id)
    // The heartbeat count of the primary advances.
    await expect
      .poll(() => heartbeatCount(replication.primary), { interval: 200 })
      .toBeGreaterThan((await heartbeatCount(replication.replica)) + 1)
    const split = await startSplit()
    for (let i = 0; i < 10; i += 1) expect(await split.statusOf(revoked.text)).toBe(503)
    await replication.resume()
    await expect.poll(() => split.statusOf(revoked.text)).toBe(401)
  })

  async function heartbeatCount(server: MariadbReplication['primary']): Promise<number> {
    const [row] = await server.ask('select max(beat) as beat from test.oauth_heartbeats')
    return Number(row?.beat ?? 0)
  }
})

describe.runIf(process.env.TEST_DATABASE === 'sqlite')('a read-only SQLite file', () => {
  it('lets the guard check tokens, while requests that write get 503 (threat Q5)', async () => {
    const server = await startServer()
    const { accessToken } = await server.oauth.tokens.createPersonal({ userId: 'ada', name: 'x' })
    const credentials = { authorization: `Bearer ${accessToken}`, cookie: null, csrfToken: null }
    // A limit on its pages has the effect of a full disk.
    await sql`pragma max_page_count = 1`.execute(server.database.kysely)
    const fill = async () => {
      for (;;) await server.oauth.clients.create({ name: 'x'.repeat(190), redirect: REDIRECT })
    }
    await expect(fill()).rejects.toSatisfy(isUnavailable)
    for (let i = 0; i < 4; i += 1) {
      await sleep(300)
      await server.oauth.guard.authenticate('api', credentials)
    }
    await server.close()
  })
})

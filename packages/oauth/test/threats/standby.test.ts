import { connect, isUnavailable } from '@tollgate/database'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  type PostgresPrimary,
  type PostgresStandby,
  startPostgresServer,
} from '../../../../test-support/postgres-server.ts'
import { startTcpProxy, type TcpProxy } from '../../../../test-support/tcp-proxy.ts'
import { REDIRECT, sessionOf } from '../support.ts'
import { type AppProcess, startProcess } from './replicated.ts'

const isPostgres = process.env.TEST_DATABASE === 'postgres'

describe.runIf(isPostgres)('a lagging standby behind the address of the database', () => {
  let primary: PostgresPrimary
  let standby: PostgresStandby
  let proxy: TcpProxy
  /** A process that reaches the primary directly. */
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

  /** The address leads to a standby that has seen everything so far, and sees nothing from now on. */
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

  it('refuses every token instead of letting a revoked one in, and says so once [threat Q5]', async () => {
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

  it('refuses every token in a process that starts on it [threat Q5]', async () => {
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

  it('makes every route answer 503, whether it reads or writes [threat Q5]', async () => {
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
          cookie: sessionOf('ada'),
        }),
      }
      const statuses = Object.entries(replies).map(([name, { status }]) => `${name} ${status}`)
      expect(statuses).toEqual(Object.keys(replies).map((name) => `${name} 503`))
      expect(replies.introspect.headers.get('retry-after')).not.toBeNull()
      await recover()
      await expect.poll(() => far.statusOf(token)).toBe(200)
    }
  })

  it('is noticed by the connection that reads, when others of the pool lead to the primary [threat Q5]', async () => {
    const far = await start(proxy.url)
    const revoked = await newToken()
    expect(await far.statusOf(revoked.text)).toBe(200)
    await standby.catchUp()
    await standby.pause()
    // Every connection opened from now on leads to the standby; those there are stay.
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

  it('ends when the standby is promoted [threat Q5]', async () => {
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
})

import { sql } from 'kysely'
import { afterEach, describe, expect, it } from 'vitest'
import { createTestDatabase } from '../../../../test-support/create-test-database.ts'
import { createClientCache } from '../../src/caches/client-cache.ts'
import { createRecentCache } from '../../src/caches/recent-cache.ts'
import {
  type AuthorizationServerOptions,
  authorizationCode,
  createAuthorizationServer,
  memoryStorage,
  password,
  refreshToken,
  systemClock,
} from '../../src/index.ts'
import { createKeyring } from '../../src/keys/keyring.ts'
import { createSigningKeys } from '../../src/keys/signing-keys.ts'
import { followRevocations } from '../../src/revocations/feed.ts'
import type {
  Client,
  NewRevocation,
  Revocation,
  RevocationFeedPage,
} from '../../src/storage/records.ts'
import {
  buildSessionCookie,
  createClient,
  listen,
  REDIRECT,
  requestAuthorization,
  runCodeFlow,
  SECRET,
  startServer,
  submitApprovalDecision,
  type TestServer,
  type TestServerOptions,
  TestUsers,
} from '../support.ts'
import { ageFeed } from './feed-history.ts'

let open: TestServer[] = []
async function start(options: TestServerOptions = {}): Promise<TestServer> {
  const server = await startServer(options)
  open.push(server)
  return server
}
afterEach(async () => {
  for (const server of open) await server.close()
  open = []
})

const bearer = (text: string) => ({
  authorization: `Bearer ${text}`,
  cookie: null,
  csrfToken: null,
})

async function statusOf(server: TestServer, text: string): Promise<number> {
  try {
    await server.oauth.guard.authenticate('api', bearer(text))
    return 200
  } catch (error) {
    return server.oauth.guard.refusal(error).status
  }
}

const refreshForm = (client: { id: string; secret: string }, text: string) => ({
  grant_type: 'refresh_token',
  client_id: client.id,
  client_secret: client.secret,
  refresh_token: text,
})

describe('a jump of the clock (threat F3)', () => {
  it('makes nothing valid again that was revoked, used or expired, in whichever direction the clock jumps', async () => {
    const server = await start({ accessTokensExpireIn: '1h', refreshTokensExpireIn: '2h' })
    const client = await createClient(server)
    const started = server.clock.now().getTime()
    const at = (minutes: number) => server.clock.set(new Date(started + minutes * 60_000))

    const revoked = await runCodeFlow(server, client)
    await server.oauth.revokeUser('ada')
    const alive = await runCodeFlow(server, client, { user: 'bob' })
    for (const minutes of [-100_000, -60, -2, 0, 1, 30, 61, 125, 100_000, 5, -5, 0]) {
      at(minutes)
      expect(await statusOf(server, revoked.access_token)).toBe(401)
      const reply = await server.post('/oauth/token', refreshForm(client, revoked.refresh_token))
      expect(reply.status).toBe(400)
      // Valid from a minute before it was issued, for an hour.
      const expected = minutes >= -1 && minutes < 60 ? 200 : 401
      expect([minutes, await statusOf(server, alive.access_token)]).toEqual([minutes, expected])
    }
  })

  it('into the past neither extends the lifetime of an authorization code nor makes a used code valid again', async () => {
    const server = await start()
    const client = await createClient(server)
    const asked = { client_id: client.id, redirect_uri: REDIRECT, response_type: 'code' }
    const newCode = async () => {
      const page = await requestAuthorization(server, 'ada', { ...asked, prompt: 'consent' })
      return (await submitApprovalDecision(server, 'ada', page)).searchParams.get('code') ?? ''
    }
    const redeem = (code: string) =>
      server.post('/oauth/token', {
        grant_type: 'authorization_code',
        client_id: client.id,
        client_secret: client.secret,
        redirect_uri: REDIRECT,
        code,
      })
    const now = server.clock.now()
    const [code, used] = [await newCode(), await newCode()]
    expect((await redeem(used)).status).toBe(200)
    server.clock.set(new Date(now.getTime() - 3600_000))
    expect((await redeem(code)).status).toBe(400)
    expect((await redeem(used)).status).toBe(400)
    server.clock.set(new Date(now.getTime() - 30_000))
    expect((await redeem(code)).status).toBe(200)
  })

  it('does not make purge() delete a revocation that is still needed', async () => {
    const server = await start({ accessTokensExpireIn: '30d', refreshTokensExpireIn: '60d' })
    const client = await createClient(server)
    const revoked = await runCodeFlow(server, client)
    await server.oauth.consents.revoke('ada', client.id)
    for (let day = 0; day < 70; day += 5) {
      await server.oauth.purge()
      expect(await statusOf(server, revoked.access_token)).toBe(401)
      server.clock.advance({ days: 5 })
    }
    const rows = await server.database.kysely.selectFrom('oauth_tokens').selectAll().execute()
    expect(rows).toEqual([])
  })

  it('before a purge() neither makes a revoked token valid again nor locks users out', async () => {
    const server = await start()
    const client = await createClient(server)
    const revoked = await runCodeFlow(server, client)
    await server.oauth.revokeUser('ada')
    // Two days pass on the database's clock. Meanwhile another revocation is written.
    const before = sql`written_at - ${sql.lit(2 * 86_400_000)}`
    const feed = server.database.kysely.updateTable('oauth_revocations').set({ written_at: before })
    await feed.execute()
    await server.oauth.revokeUser('bob')
    const now = server.clock.now()
    server.clock.advance({ days: 400 })
    await server.oauth.purge()
    server.clock.set(now)
    expect(await statusOf(server, revoked.access_token)).toBe(401)
    const authorization = `Bearer ${revoked.access_token}`
    const restarted = server.another()
    await expect(
      Promise.resolve(
        restarted.guard.authenticate('api', { authorization, cookie: null, csrfToken: null }),
      ),
    ).rejects.toMatchObject({ code: 'invalid_token' })
    const fresh = await runCodeFlow(server, client)
    expect(await statusOf(server, fresh.access_token)).toBe(200)
  })

  it('does not make a revoked token valid again after a purge(), even if the clock of a process is weeks behind', async () => {
    const server = await start({ accessTokensExpireIn: '1h', refreshTokensExpireIn: '2h' })
    const now = server.clock.now()
    const behind = new Date(now.getTime() - 14 * 86_400_000)
    server.clock.set(behind)
    const client = await createClient(server)
    const revoked = await runCodeFlow(server, client)
    await server.oauth.revokeUser('ada')
    await server.oauth.revokeUser('bob')
    await ageFeed(server.database, 2 * 86_400_000)
    server.clock.set(now)
    await server.oauth.purge()
    const feed = server.database.kysely.selectFrom('oauth_revocations').select('kind')
    expect(await feed.where('kind', '=', 'token').execute()).toEqual([])
    server.clock.set(behind)
    const authorization = `Bearer ${revoked.access_token}`
    for (const oauth of [server.oauth, server.another()]) {
      await expect(
        (async () =>
          oauth.guard.authenticate('api', { authorization, cookie: null, csrfToken: null }))(),
      ).rejects.toMatchObject({ code: 'invalid_token' })
    }
  })
})

it('a hook for users that fails does not use up the refresh token of an honest client (threat T6)', async () => {
  const server = await start()
  const client = await createClient(server)
  const tokens = await runCodeFlow(server, client)
  const refresh = () =>
    server.post('/oauth/token', {
      grant_type: 'refresh_token',
      refresh_token: tokens.refresh_token,
      client_id: client.id,
      client_secret: client.secret,
    })
  const { findById } = server.users
  server.users.findById = async () => {
    throw new Error('the user table is away')
  }
  expect((await refresh()).status).toBe(503)
  server.clock.advance({ hours: 1 })
  server.users.findById = findById
  expect((await refresh()).status).toBe(200)
})

const options = (changes: object): AuthorizationServerOptions =>
  ({
    issuer: 'https://api.example.com',
    secret: SECRET,
    storage: memoryStorage(),
    users: new TestUsers(),
    grants: [authorizationCode()],
    ...changes,
  }) as AuthorizationServerOptions

describe('the start of a server (threat F4)', () => {
  const wrong = 'hunter2-hunter2'
  it.each([
    ['no secret', { secret: undefined }],
    ['an empty secret', { secret: '' }],
    ['a secret of spaces', { secret: ' '.repeat(64) }],
    ['a short secret', { secret: wrong }],
    ['a short secret padded with spaces', { secret: `${' '.repeat(20)}${wrong}${' '.repeat(20)}` }],
    ['a secret that is no string', { secret: Buffer.from(wrong.repeat(4)) }],
    ['no secrets', { secret: [] }],
    ['a valid and a short secret', { secret: [SECRET, wrong] }],
    ['an empty issuer', { issuer: '' }],
    ['no issuer', { issuer: undefined }],
    ['a secret as issuer', { issuer: `${wrong}${wrong}${wrong}` }],
    ['a secret with a colon as issuer', { issuer: `tgs:${wrong}` }],
    ['a database as issuer', { issuer: `mysql://root:${wrong}@db.example/x` }],
    ['a password in the issuer', { issuer: `https://root:${wrong}@api.example.com` }],
    ['http', { issuer: 'http://api.example.com' }],
    ['a slash', { issuer: 'https://api.example.com/' }],
    ['a query', { issuer: `https://api.example.com?key=${wrong}` }],
    ['a fragment', { issuer: 'https://api.example.com#x' }],
    ['another letter case', { issuer: 'https://API.example.com' }],
    ['a default port', { issuer: 'https://api.example.com:443' }],
    ['dot segments', { issuer: 'https://api.example.com/a/../b' }],
    ['script', { issuer: 'javascript:alert(1)' }],
    ['a look-alike of localhost', { issuer: 'http://localhost.evil.example' }],
  ])('fails with %s, and the error contains no value', (_, changes) => {
    let message = ''
    try {
      createAuthorizationServer(options(changes))
    } catch (error) {
      expect(error).toBeInstanceOf(TypeError)
      message = String((error as Error).stack)
    }
    expect(message).toMatch(/secret|issuer/)
    expect(message).not.toContain(wrong)
    expect(message).not.toContain(SECRET)
  })

  it('fails with an explanation if the secret cannot decrypt the stored signing keys', async () => {
    const { database, drop } = await createTestDatabase()
    const make = (secret: string | string[]) => {
      const { storage: _, ...rest } = options({ secret })
      return createAuthorizationServer({ ...rest, database, logger: { error() {} } })
    }
    const other = `another ${SECRET}`
    const first = make(SECRET)
    try {
      await first.ready()
      const [key] = await first.keys.list()
      const second = make(other)
      const failure = await second.ready().catch((error: Error) => error)
      expect(failure).toBeInstanceOf(Error)
      expect(String(failure)).toMatch(/cannot be decrypted with the given secret/)
      expect(String(failure)).not.toContain(SECRET)
      const reply = await second.fetch(new Request('https://api.example.com/.well-known/jwks.json'))
      expect(reply.status).toBe(500)
      expect(await reply.text()).not.toMatch(/secret|key/i)
      expect(await first.keys.list()).toHaveLength(1)
      const third = make([other, SECRET])
      await third.ready()
      expect((await third.keys.list())[0]?.kid).toBe(key?.kid)
      for (const server of [second, third]) server.close()
    } finally {
      first.close()
      await drop()
    }
  })
})

it('a stored key that was encrypted with an unknown secret does not stop a running process (threat F4)', async () => {
  const { database, drop } = await createTestDatabase()
  const logged: unknown[] = []
  const make = (secret: string | string[]) => {
    const { storage: _, ...rest } = options({ secret })
    const logger = { error: (message: string) => logged.push(message) }
    return createAuthorizationServer({ ...rest, database, logger })
  }
  const [before, after] = [make(SECRET), make([`another ${SECRET}`, SECRET])]
  try {
    await before.ready()
    const text = (await before.tokens.createPersonal({ userId: 'ada', name: 'x' })).accessToken
    await after.ready()
    await after.keys.rotate({ immediately: true })
    await expect.poll(() => logged.length).toBeGreaterThan(0)
    expect((await before.guard.authenticate('api', bearer(text))).id).toBe('ada')
  } finally {
    before.close()
    after.close()
    await drop()
  }
})

const failing = async (): Promise<never> => {
  throw new Error('the hook failed with the password hunter2')
}

describe('functions of the application, such as listeners and pages (threat F4),', () => {
  const hanging = () => new Promise<never>(() => {})

  it('affect only the request that calls them if they fail or hang', async () => {
    const server = await start()
    const client = await createClient(server, { grants: ['password', 'refresh_token'] })
    const credentials = { client_id: client.id, client_secret: client.secret }
    const signIn = { grant_type: 'password', ...credentials, username: 'x', password: 'y' }
    const personal = await server.oauth.tokens.createPersonal({ userId: 'ada', name: 'x' })
    const good = {
      findByCredentials: server.users.findByCredentials,
      fromRequest: server.users.fromRequest,
    }
    for (const hook of [failing, hanging]) {
      Object.assign(server.users, { findByCredentials: hook, fromRequest: hook, findById: hook })
      const attempts = [
        server.post('/oauth/token', signIn),
        server.request('/oauth/clients', { headers: { cookie: buildSessionCookie('ada') } }),
        server.request(`/oauth/authorize?client_id=${client.id}&response_type=code`),
      ]
      // Without the hook, the server does not know whether the user still exists.
      expect(await statusOf(server, personal.accessToken)).toBe(503)
      // These need no hook, and are answered while the others hang.
      expect((await server.request('/.well-known/jwks.json')).status).toBe(200)
      const introspection = await server.post('/oauth/introspect', { ...credentials, token: 'x' })
      expect(introspection.status).toBe(200)
      if (hook === failing) {
        for (const reply of await Promise.all(attempts)) {
          expect([303, 400, 500]).toContain(reply.status)
          expect(await reply.text()).not.toMatch(/hunter2|hook/)
        }
      }
      Object.assign(server.users, good)
    }
    expect(
      (await server.request('/oauth/clients', { headers: { cookie: buildSessionCookie('ada') } }))
        .status,
    ).toBe(200)
  })

  it('stop neither the process nor the response if they throw', async () => {
    const unhandled: unknown[] = []
    const note = (error: unknown) => unhandled.push(error)
    process.on('unhandledRejection', note)
    const server = await listen({
      pages: { error: failing, consent: failing },
      logger: {
        error() {
          throw new Error('the disk of the log is full')
        },
      },
    })
    try {
      server.oauth.events.on('AccessTokenCreated', failing)
      server.oauth.events.on('AccessTokenCreated', hanging)
      const client = await createClient(server, {
        grants: ['authorization_code', 'client_credentials'],
      })
      const page = await fetch(`${server.url}/oauth/authorize`, {
        headers: { accept: 'text/html' },
      })
      expect([400, 500]).toContain(page.status)
      expect(await page.text()).not.toContain('hunter2')
      const query = `client_id=${client.id}&response_type=code`
      const headers = { cookie: buildSessionCookie('ada'), accept: 'text/html' }
      const consent = await fetch(`${server.url}/oauth/authorize?${query}`, { headers })
      expect(consent.status).toBe(500)
      const form = { grant_type: 'client_credentials', client_id: client.id }
      const body = new URLSearchParams({ ...form, client_secret: client.secret })
      const reply = await fetch(`${server.url}/oauth/token`, { method: 'POST', body })
      expect(reply.status).toBe(200)
      await new Promise((resolve) => setTimeout(resolve, 50))
      expect(unhandled).toEqual([])
    } finally {
      process.off('unhandledRejection', note)
      await server.close()
    }
  })
})

it('the lookup of an unknown key id during a database outage leads to a refusal, and to no unhandled rejection (threat F4)', async () => {
  const unhandled: unknown[] = []
  const note = (error: unknown) => unhandled.push(error)
  process.on('unhandledRejection', note)
  const storage = memoryStorage()
  const server = await start({ storage })
  try {
    storage.keys.list = failing
    const header = Buffer.from('{"alg":"ES256","typ":"at+jwt","kid":"new"}').toString('base64url')
    for (let i = 0; i < 3; i += 1) {
      expect(await statusOf(server, `${header}.e30.AA`)).toBe(500)
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(unhandled).toEqual([])
  } finally {
    process.off('unhandledRejection', note)
  }
})

describe('the memory that requests can use (threat F4)', () => {
  it('is limited in caches, which keep the entries that are in use', () => {
    const cache = createRecentCache<number>(100)
    cache.set('used', 1)
    let kept = 0
    for (let i = 0; i < 100_000; i += 1) {
      cache.set(`k${i}`, i)
      if (i % 10 === 0) cache.get('used')
    }
    expect(cache.get('used')).toBe(1)
    for (let i = 0; i < 100_000; i += 1) if (cache.get(`k${i}`) !== undefined) kept += 1
    expect(kept).toBeLessThanOrEqual(100)
  })

  it('is not used to cache invalid tokens, unknown clients and invalid cookies', async () => {
    const server = await start()
    const client = await createClient(server)
    const { access_token } = await runCodeFlow(server, client)
    let sets = 0
    const original = Map.prototype.set
    Map.prototype.set = function (...args) {
      if (String(args[0]).includes('bad-')) sets += 1
      return original.apply(this, args)
    }
    try {
      for (let i = 0; i < 3000; i += 1) {
        await statusOf(server, `${access_token.slice(0, -20)}bad-${i}`)
        const credentials = {
          authorization: null,
          cookie: `tollgate_token=bad-${i}`,
          csrfToken: 'x',
        }
        await Promise.resolve(server.oauth.guard.authenticate('api', credentials)).catch(() => {})
        if (i % 10 === 0) {
          await server.request('/oauth/token', {
            method: 'POST',
            headers: { authorization: `Basic ${Buffer.from(`bad-${i}:x`).toString('base64')}` },
            body: new URLSearchParams({ grant_type: 'password' }),
          })
        }
      }
    } finally {
      Map.prototype.set = original
    }
    expect(sets).toBe(0)
  })

  it('is limited for the pending approvals of one person (threat L3)', async () => {
    const server = await start()
    const client = await createClient(server)
    for (let i = 0; i < 70; i += 1) {
      server.clock.advance({ seconds: 1 })
      await requestAuthorization(server, 'ada', { client_id: client.id, response_type: 'code' })
    }
    const rows = await server.database.kysely.selectFrom('oauth_interactions').selectAll().execute()
    expect(rows.length).toBeLessThanOrEqual(50)
  })
})

describe('a cache that is filled while the data is being changed (threat R1)', () => {
  const clientOf = (secretVersion: number) =>
    ({ id: 'c', secretVersion, revokedAt: null, settings: {} }) as Client

  it('does not keep a client that was read before a change was published', async () => {
    const feed = followRevocations(memoryStorage().revocations, console)
    await feed.sync()
    let current = clientOf(1)
    let release = () => {}
    const slow = new Promise<void>((resolve) => {
      release = resolve
    })
    let reads = 0
    const cache = createClientCache(
      {
        async find() {
          reads += 1
          const seen = current
          if (reads === 1) await slow
          return seen
        },
      } as never,
      { feed, clock: systemClock, finders: [] },
    )
    const first = cache.find('c')
    await Promise.resolve()
    current = clientOf(2)
    feed.note({ kind: 'client-changed', subject: 'c', at: new Date(), until: new Date() })
    release()
    await first
    expect((await cache.find('c'))?.secretVersion).toBe(2)
  })

  it('does not store a revoked key again after a slow read of the keys', async () => {
    const storage = memoryStorage()
    const keys = createSigningKeys({
      repository: storage.keys,
      secrets: [SECRET],
      keyring: createKeyring([SECRET]),
      latestExpiry: (now) => now,
      algorithm: 'EdDSA',
      algorithms: new Set(['EdDSA'] as const),
      accessTokenTypes: ['at+jwt'],
      publishedAheadSeconds: 1,
      clock: { now: () => new Date() },
      logger: { error() {} },
    })
    await keys.load()
    const [old] = keys.all()
    if (!old) throw new Error('There is no key')
    await keys.rotate({ immediately: true })
    const list = storage.keys.list
    const stale = await list()
    let release = () => {}
    storage.keys.list = () =>
      new Promise((resolve) => {
        release = () => resolve(stale)
      })
    const slow = keys.findOrReload('unknown')
    await new Promise((resolve) => setTimeout(resolve, 20))
    storage.keys.list = list
    await keys.revoke(old.kid)
    release()
    await slow
    expect(keys.findByHeader(old.header('at+jwt'))).toBeNull()
    expect(keys.removals()).toBe(1)
  })

  it('reads the keys again after a read that failed, and no token is accepted until then', async () => {
    const storage = memoryStorage()
    const server = await start({ storage })
    const { accessToken } = await server.oauth.tokens.createPersonal({ userId: 'ada', name: 'x' })
    expect(await statusOf(server, accessToken)).toBe(200)
    const { list } = storage.keys
    storage.keys.list = () => Promise.reject(new Error('away'))
    // Another process revokes the only key.
    const [key] = await list()
    const now = server.clock.now()
    const news: NewRevocation = { kind: 'keys', subject: 'changed', at: now, until: now }
    await storage.keys.remove(key?.kid ?? '', news)
    await expect.poll(() => statusOf(server, accessToken)).toBe(503)
    storage.keys.list = list
    await expect.poll(() => statusOf(server, accessToken)).toBe(401)
  })

  it('is not considered up to date after a slow read of the revocation feed', async () => {
    const entries: Revocation[] = []
    const waiting: Array<() => void> = []
    const readFrom = (from: number) => {
      const seen = entries.filter(({ id }) => id >= from)
      const page = { entries: seen, now: new Date() }
      return new Promise<RevocationFeedPage>((resolve) => waiting.push(() => resolve(page)))
    }
    const feed = followRevocations({ readFrom }, console)
    const slow = feed.sync()
    const at = new Date()
    entries.push({ id: 1, kind: 'token', subject: 't', at, until: at, mark: 'm', writtenAt: at })
    await new Promise((resolve) => setTimeout(resolve, 950))
    const asked = feed.sync()
    waiting.shift()?.()
    await slow
    await expect.poll(() => waiting.length).toBe(1)
    waiting.shift()?.()
    await asked
    expect(feed.isRevoked('token', 't')).toBe(true)
  })
})

describe('an approval that is concurrent with a sign-out everywhere (threat R1)', () => {
  it('leaves no valid code', async () => {
    const server = await start()
    const client = await createClient(server)
    await requestAuthorization(server, 'ada', { client_id: client.id, response_type: 'code' })
    const at = server.clock.now().getTime()
    let revoking: Promise<void> | null = null
    // What `approve()` does, held open until the other transaction has begun.
    await server.database.transaction(async ({ kysely }) => {
      await kysely.updateTable('oauth_interactions').set({ decided_at: at }).execute()
      revoking = server.oauth.revokeUser('ada')
      await new Promise((resolve) => setTimeout(resolve, 300))
      const code = {
        hash: 'h',
        token_id: 't',
        client_id: client.id,
        user_id: 'ada',
        redirect_uri: null,
        scopes: '[]',
        code_challenge: null,
        expires_at: at + 60_000,
        used_at: null,
      }
      await kysely.insertInto('oauth_authorization_codes').values(code).execute()
    })
    await revoking
    const table = server.database.kysely.selectFrom('oauth_authorization_codes')
    expect(await table.selectAll().execute()).toEqual([])
  })
})

describe('concurrent requests (threat R2)', () => {
  it('return no lock or deadlock errors to their callers', async () => {
    const server = await start()
    const client = await createClient(server, { grants: ['password', 'refresh_token'] })
    const credentials = { client_id: client.id, client_secret: client.secret }
    const signIn = {
      username: 'ada@example.com',
      password: 'correct horse',
      grant_type: 'password',
    }
    const work = Array.from({ length: 60 }, async (_, i) => {
      const reply = await server.post('/oauth/token', { ...credentials, ...signIn })
      const tokens = (await reply.json()) as { refresh_token: string; access_token: string }
      const statuses = [reply.status]
      const refreshed = await server.post('/oauth/token', refreshForm(client, tokens.refresh_token))
      statuses.push(refreshed.status)
      if (i % 3 === 0) {
        const form = { ...credentials, token: tokens.access_token }
        statuses.push((await server.post('/oauth/revoke', form)).status)
      }
      if (i % 10 === 0) await server.oauth.purge()
      if (i % 20 === 0) await server.oauth.revokeUser('bob')
      return statuses
    })
    expect(new Set((await Promise.all(work)).flat())).toEqual(new Set([200]))
    expect(server.logged).toEqual([])
  })

  it('lose no valid record to a concurrent purge (threat R1)', async () => {
    const server = await start({ grants: [authorizationCode(), refreshToken(), password()] })
    const client = await createClient(server, { grants: ['authorization_code', 'refresh_token'] })
    const tokens = await runCodeFlow(server, client)
    server.clock.advance({ days: 300 })
    await Promise.all([server.oauth.purge(), server.oauth.purge(), server.oauth.purge()])
    expect(await statusOf(server, tokens.access_token)).toBe(200)
    const reply = await server.post('/oauth/token', refreshForm(client, tokens.refresh_token))
    expect(reply.status).toBe(200)
  })
})

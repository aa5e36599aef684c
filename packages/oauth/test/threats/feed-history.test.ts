import { databaseNow } from '@tollgate/database'
import { afterEach, describe, expect, it } from 'vitest'
import type { AuthorizationServer } from '../../src/index.ts'
import { kyselyStorage } from '../../src/index.ts'
import {
  createClient,
  runCodeFlow,
  startServer,
  type TestServer,
  type TestUser,
} from '../support.ts'
import { ageFeed, continueFeedAfter, findNewestFeedId, loseFeedAfter } from './feed-history.ts'

type Server = AuthorizationServer<TestUser>

let server: TestServer
afterEach(() => server.close())

const DAY = 24 * 3_600_000

async function statusOf(oauth: Server, text: string): Promise<number> {
  const credentials = { authorization: `Bearer ${text}`, cookie: null, csrfToken: null }
  try {
    await oauth.guard.authenticate('api', credentials)
    return 200
  } catch (error) {
    return oauth.guard.refusal(error).status
  }
}

async function newToken(name: string) {
  const { accessToken, token } = await server.oauth.tokens.createPersonal({ userId: 'ada', name })
  return { text: accessToken, id: token.id }
}

/** Polls the process until its status for the token is the expected one. */
const verdict = (oauth: Server, text: string, expected: number) =>
  expect.poll(() => statusOf(oauth, text)).toBe(expected)

/** Waits until a process has read the entries that another one has written. */
async function waitUntilRead(oauth: Server, writer = server.oauth): Promise<void> {
  const seen = await newToken('seen')
  await writer.tokens.revoke(seen.id)
  await verdict(oauth, seen.text, 401)
}

function moveClock(minutes: number): void {
  server.clock.set(new Date(server.clock.now().getTime() + minutes * 60_000))
}

const reportedLosses = () =>
  server.logged.filter((entry) => String(entry).includes('has lost part of'))

describe('a database from which some revocations were lost (threat N1)', () => {
  it.each([
    ['ids end below the last id a process read', 2, 1],
    ['ids reach the last id a process read', 2, 3],
    ['ids go beyond the last id a process read', 2, 5],
    ['the feed is empty and starts again', 0, 2],
  ])('is detected when %s', async (_, kept, after) => {
    server = await startServer()
    const elsewhere = server.another()
    const before = []
    for (let i = 0; i < 4; i += 1) before.push(await newToken(`before ${i}`))
    const later = []
    for (let i = 0; i < after; i += 1) later.push(await newToken(`later ${i}`))
    const alive = await newToken('alive')
    for (const { text } of [...before, ...later]) expect(await statusOf(elsewhere, text)).toBe(200)
    for (const { id } of before) await server.oauth.tokens.revoke(id)
    for (const { text } of before) await verdict(elsewhere, text, 401)

    await loseFeedAfter(server.database, kept)
    for (const { id } of later) await server.oauth.tokens.revoke(id)
    for (const oauth of [elsewhere, server.oauth]) {
      for (const { text } of later) await verdict(oauth, text, 401)
      // Revocations known before stay in force, and valid tokens are accepted.
      for (const { text } of before) await verdict(oauth, text, 401)
      await verdict(oauth, alive.text, 200)
    }
  })

  it('is detected by introspection and by guards', async () => {
    server = await startServer()
    const client = await createClient(server)
    const tokens = [await runCodeFlow(server, client), await runCodeFlow(server, client)]
    const credentials = { client_id: client.id, client_secret: client.secret }
    const elsewhere = server.another()
    const isActive = async (token: string) => {
      const body = new URLSearchParams({ ...credentials, token })
      const request = new Request(`${server.url}/oauth/introspect`, { method: 'POST', body })
      return ((await (await elsewhere.fetch(request)).json()) as { active: boolean }).active
    }
    const [first, second] = tokens.map(({ access_token }) => access_token)
    if (!first || !second) throw new Error('There are no tokens')
    expect([await isActive(first), await isActive(second)]).toEqual([true, true])
    await server.post('/oauth/revoke', { ...credentials, token: first })
    await expect.poll(() => isActive(first)).toBe(false)
    await loseFeedAfter(server.database, 0)
    await server.post('/oauth/revoke', { ...credentials, token: second })
    await expect.poll(() => isActive(second)).toBe(false)
  })

  it('makes a process read its cached clients and keys again', async () => {
    server = await startServer()
    const client = await createClient(server, { grants: ['client_credentials'] })
    const ask = () =>
      server.post('/oauth/token', {
        grant_type: 'client_credentials',
        client_id: client.id,
        client_secret: client.secret,
      })
    const { text } = await newToken('signed by a key that is not in the backup')
    await waitUntilRead(server.oauth, server.another())
    expect((await ask()).status).toBe(200)
    const { kysely } = server.database
    await kysely.updateTable('oauth_clients').set({ revoked_at: 1 }).execute()
    await kysely.updateTable('oauth_keys').set({ kid: 'from the backup' }).execute()
    await loseFeedAfter(server.database, 0)
    await expect.poll(async () => (await ask()).status).toBe(401)
    await verdict(server.oauth, text, 401)
  })

  it('makes guards accept no token until everything has been read again', async () => {
    let isHeld = false
    let release = () => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    server = await startServer()
    const storage = kyselyStorage(server.database)
    const { readFrom } = storage.revocations
    storage.revocations.readFrom = async (id, limit) => {
      // Reading the whole feed again.
      if (id === 0 && isHeld) await released
      return readFrom(id, limit)
    }
    // With a store that responds at once or not at all, no caller waits long.
    const held = await startServer({ storage: { ...storage, timeout: 0 } })
    try {
      const { text, id } = await newToken('alive')
      await server.oauth.tokens.revoke((await newToken('first')).id)
      await verdict(held.oauth, text, 200)
      await waitUntilRead(held.oauth)
      isHeld = true
      await loseFeedAfter(server.database, 0)
      await verdict(held.oauth, text, 503)
      await server.oauth.tokens.revoke(id)
      expect(await statusOf(held.oauth, text)).toBe(503)
      release()
      await verdict(held.oauth, text, 401)
    } finally {
      release()
      await held.close()
    }
  })
})

describe('a revocation that is repeated (threat N1)', () => {
  const revocationsOf = (id: string) =>
    server.database.kysely
      .selectFrom('oauth_revocations')
      .selectAll()
      .where('subject', '=', id)
      .execute()

  it('is added to the revocation feed again while the token could still be valid', async () => {
    server = await startServer()
    const client = await createClient(server)
    const { access_token, refresh_token } = await runCodeFlow(server, client)
    const credentials = { client_id: client.id, client_secret: client.secret }
    for (const token of [access_token, refresh_token, access_token]) {
      expect((await server.post('/oauth/revoke', { ...credentials, token })).status).toBe(200)
    }
    const id = (await server.database.kysely.selectFrom('oauth_tokens').selectAll().execute())[0]
      ?.id
    const news = await revocationsOf(String(id))
    expect(news).toHaveLength(3)
    expect(new Set(news.map(({ until }) => until)).size).toBe(1)
    await server.oauth.tokens.revoke(String(id))
    expect(await revocationsOf(String(id))).toHaveLength(4)
  })

  it('invalidates a token whose row was lost from the database', async () => {
    server = await startServer()
    const elsewhere = server.another()
    const client = await createClient(server)
    const { access_token } = await runCodeFlow(server, client)
    const other = await createClient(server)
    await server.database.kysely.deleteFrom('oauth_tokens').execute()
    const revoke = ({ id, secret }: { id: string; secret: string }) =>
      server.post('/oauth/revoke', { client_id: id, client_secret: secret, token: access_token })
    await revoke(other)
    await waitUntilRead(elsewhere)
    expect(await statusOf(elsewhere, access_token)).toBe(200)
    await revoke(client)
    await verdict(elsewhere, access_token, 401)
  })
})

describe('a process does not report a loss of revocations (threat N1) after', () => {
  it('a purge() between two reads of the feed', async () => {
    server = await startServer({ purgeEvery: false })
    const elsewhere = server.another()
    const tokens = []
    for (let i = 0; i < 4; i += 1) {
      const token = await newToken(`old ${i}`)
      tokens.push(token)
      await server.oauth.tokens.revoke(token.id)
    }
    await waitUntilRead(elsewhere)
    // All are expired and were written two days ago: only the newest stays.
    await server.database.kysely.updateTable('oauth_revocations').set({ until: 1 }).execute()
    await ageFeed(server.database, 2 * DAY)
    const newest = await findNewestFeedId(server.database)
    await server.oauth.purge()
    const rows = await server.database.kysely.selectFrom('oauth_revocations').selectAll().execute()
    expect(rows.map(({ id, kind }) => [Number(id) - newest, kind])).toEqual([
      [0, 'token'],
      [1, 'ended'],
    ])
    await waitUntilRead(elsewhere)
    await waitUntilRead(server.oauth, elsewhere)
    // An entry that was the newest until just now: a process may still be at it.
    await ageFeed(server.database, 2 * DAY)
    await server.oauth.tokens.revoke((await newToken('x')).id)
    await server.database.kysely.updateTable('oauth_revocations').set({ until: 1 }).execute()
    await server.oauth.purge()
    await waitUntilRead(elsewhere)
    expect(reportedLosses()).toEqual([])
    const { text } = await newToken('alive')
    for (const oauth of [server.oauth, elsewhere]) await verdict(oauth, text, 200)
  })

  it('a gap in the ids of the feed, where the database assigned ids but never used them', async () => {
    server = await startServer()
    const elsewhere = server.another()
    await waitUntilRead(elsewhere)
    await continueFeedAfter(server.database, (await findNewestFeedId(server.database)) + 40)
    await waitUntilRead(elsewhere)
    expect(reportedLosses()).toEqual([])
  })
})

describe('the clock of one process (threat N1)', () => {
  const isServer = process.env.TEST_DATABASE !== 'sqlite'

  it.runIf(isServer)(
    'may be ahead, and other processes still notice a revocation that is committed late',
    async () => {
      server = await startServer()
      const elsewhere = server.another()
      await waitUntilRead(elsewhere)
      const late = await newToken('late')
      const at = Date.now()
      await server.database.transaction(async (tx) => {
        const row = { kind: 'token', subject: late.id, at, until: at + DAY, mark: 'late' }
        const entry = { ...row, written_at: databaseNow(tx) }
        await tx.kysely.insertInto('oauth_revocations').values(entry).execute()
        // Its id is assigned, and later ids become visible before it.
        await waitUntilRead(elsewhere)
        moveClock(120)
        await waitUntilRead(elsewhere)
        moveClock(-120)
        await waitUntilRead(elsewhere)
      })
      await verdict(elsewhere, late.text, 401)
    },
  )

  it('may be ahead or behind, and a sign-out still invalidates all earlier cookies and no later ones', async () => {
    server = await startServer()
    const elsewhere = server.another()
    const allows = async (session: { cookie: string; csrfToken: string }) => {
      try {
        await elsewhere.guard.authenticate('api', { authorization: null, ...session })
        return true
      } catch {
        return false
      }
    }
    const before = await server.cookieMode('ada')
    expect(await allows(before)).toBe(true)
    // Signed out by a process that is 50 minutes behind.
    moveClock(-50)
    await server.oauth.revokeUser('ada')
    moveClock(50)
    await expect.poll(() => allows(before)).toBe(false)
    // Signed out by a process that is 50 minutes ahead.
    moveClock(50)
    await server.oauth.revokeUser('ada')
    moveClock(-50)
    const after = await server.cookieMode('ada')
    expect(await allows(after)).toBe(true)
    await waitUntilRead(elsewhere)
    expect(await allows(after)).toBe(true)
  })
})

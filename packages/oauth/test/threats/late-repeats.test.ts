import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { authorizationCode, type OAuthEvents, refreshToken } from '../../src/index.ts'
import type { TokenRow } from '../../src/storage/kysely/tables.ts'
import {
  createClient,
  runCodeFlow,
  startServer,
  type TestServer,
  type TokenReply,
} from '../support.ts'

interface Credentials {
  readonly id: string
  readonly secret: string
}

const HOUR = 3600

let server: TestServer
let client: Credentials
let repeats: Array<OAuthEvents['RefreshTokenRepeatedLate']>
beforeAll(async () => {
  server = await startServer()
  client = await createClient(server)
  server.oauth.events.on('RefreshTokenRepeatedLate', (event) => {
    repeats.push(event)
  })
})
beforeEach(() => {
  repeats = []
  server.logged.length = 0
})
afterAll(() => server.close())

function refresh(
  { refresh_token }: TokenReply,
  { by = client, ...form }: { by?: Credentials; scope?: string } = {},
): Promise<Response> {
  return server.post('/oauth/token', {
    grant_type: 'refresh_token',
    client_id: by.id,
    ...(by.secret ? { client_secret: by.secret } : {}),
    refresh_token,
    ...form,
  })
}

async function refreshAndRead(
  tokens: TokenReply,
  how: { by?: Credentials } = {},
): Promise<TokenReply> {
  const reply = await refresh(tokens, how)
  expect(reply.status).toBe(200)
  return (await reply.json()) as TokenReply
}

async function expectRefused(tokens: TokenReply, how: { by?: Credentials } = {}): Promise<void> {
  const reply = await refresh(tokens, how)
  expect([reply.status, ((await reply.json()) as { error: string }).error]).toEqual([
    400,
    'invalid_grant',
  ])
}

const unsigned = ({ access_token }: TokenReply) => access_token.replace(/\.[^.]+$/, '')

const idOf = ({ refresh_token }: TokenReply) => refresh_token.slice(4).split('.')[0] ?? ''

function readRow(tokens: TokenReply): Promise<TokenRow> {
  return server.database.kysely
    .selectFrom('oauth_tokens')
    .selectAll()
    .where('id', '=', idOf(tokens))
    .executeTakeFirstOrThrow() as Promise<TokenRow>
}

/** Restores an old row, as a failover to a lagging standby or a restored backup does. */
async function restoreOldRow(row: TokenRow): Promise<void> {
  await server.database.kysely
    .updateTable('oauth_tokens')
    .set(row)
    .where('id', '=', row.id)
    .execute()
}

describe('a client that did not receive the response to its refresh (threat T6)', () => {
  it('can repeat the refresh after more than ten seconds, receives the same refresh token, and continues', async () => {
    const first = await runCodeFlow(server, client)
    const lost = await refreshAndRead(first)
    server.clock.advance({ seconds: 13 })
    const found = await refreshAndRead(first)
    expect(found.refresh_token).toBe(lost.refresh_token)
    // The same claims; an ECDSA signature differs each time.
    expect(unsigned(found)).toBe(unsigned(lost))
    await refreshAndRead(await refreshAndRead(found))
  })

  it('can repeat the refresh several times within a day', async () => {
    const first = await runCodeFlow(server, client)
    const lost = await refreshAndRead(first)
    for (const seconds of [13, 60, HOUR, 22 * HOUR]) {
      server.clock.advance({ seconds: seconds })
      expect((await refreshAndRead(first)).refresh_token).toBe(lost.refresh_token)
    }
    server.clock.advance({ hours: 1 })
    await expectRefused(first)
    await expectRefused(lost)
  })

  it('can repeat the refresh for only one hour if it is a public client', async () => {
    const app = await createClient(server, { confidential: false })
    const first = await runCodeFlow(server, app)
    const lost = await refreshAndRead(first, { by: app })
    server.clock.advance({ hours: 1 })
    expect((await refreshAndRead(first, { by: app })).refresh_token).toBe(lost.refresh_token)
    server.clock.advance({ seconds: 1 })
    await expectRefused(first, { by: app })
    await expectRefused(lost, { by: app })
  })

  it('can repeat the refresh for as long as configured, separately for public clients', async () => {
    const strict = await startServer({
      grants: [authorizationCode(), refreshToken({ repeatableFor: false })],
    })
    try {
      const own = await createClient(strict)
      const first = await runCodeFlow(strict, own)
      const ask = () =>
        strict.post('/oauth/token', {
          grant_type: 'refresh_token',
          client_id: own.id,
          client_secret: own.secret,
          refresh_token: first.refresh_token,
        })
      expect((await ask()).status).toBe(200)
      strict.clock.advance({ seconds: 11 })
      expect((await ask()).status).toBe(400)
    } finally {
      await strict.close()
    }
  })

  it('causes a log entry and an event if it repeats the refresh after more than ten seconds, but not if it repeats earlier', async () => {
    const first = await runCodeFlow(server, client)
    const lost = await refreshAndRead(first)
    await refreshAndRead(first)
    expect([repeats, server.logged]).toEqual([[], []])
    server.clock.advance({ seconds: 13 })
    await refreshAndRead(first)
    await refreshAndRead(first)
    const id = idOf(first)
    const event = {
      refreshTokenId: `${id}.1`,
      accessTokenId: id,
      userId: 'ada',
      clientId: client.id,
    }
    expect(repeats).toEqual([event, event])
    expect(server.logged).toHaveLength(2)
    expect(JSON.stringify(server.logged)).toContain(`13 s after its first use`)
    for (const secret of [first.refresh_token, lost.refresh_token]) {
      expect(JSON.stringify(server.logged)).not.toContain(secret)
    }
  })

  it('gets the same refresh token if it repeats the refresh fifty times concurrently', async () => {
    const first = await runCodeFlow(server, client)
    const lost = await refreshAndRead(first)
    server.clock.advance({ seconds: 60 })
    const found = await Promise.all(Array.from({ length: 50 }, () => refreshAndRead(first)))
    expect(new Set(found.map(({ refresh_token }) => refresh_token))).toEqual(
      new Set([lost.refresh_token]),
    )
    expect((await readRow(first)).generation).toBe(1)
  })

  it('cannot extend the lifetime of its tokens by repeating the refresh', async () => {
    const first = await runCodeFlow(server, client)
    await refreshAndRead(first)
    const before = await readRow(first)
    server.clock.advance({ hours: 1 })
    const found = await refreshAndRead(first)
    expect(await readRow(first)).toEqual({ ...before, late_generation: 1 })
    expect(found.expires_in).toBe((before.expires_at - server.clock.now().getTime()) / 1000)
  })

  it('can reduce the scopes by repeating the refresh, but cannot add any (threat T5)', async () => {
    const first = await runCodeFlow(server, client, { scope: 'place-orders' })
    await refreshAndRead(first)
    server.clock.advance({ seconds: 60 })
    const wide = await refresh(first, { scope: 'place-orders check-status' })
    expect(((await wide.json()) as { error: string }).error).toBe('invalid_scope')
    const narrow = (await (await refresh(first, { scope: 'place-orders' })).json()) as TokenReply
    expect(narrow.scope).toBe('place-orders')
  })
})

describe('reuse of an old refresh token more than ten seconds after its first use (threat T6)', () => {
  it('ends the grant if the new refresh token was already used', async () => {
    const first = await runCodeFlow(server, client)
    const second = await refreshAndRead(first)
    const third = await refreshAndRead(second)
    server.clock.advance({ seconds: 13 })
    await expectRefused(first)
    await expectRefused(third)
  })

  it('leaves at most one valid refresh token if the new refresh token is used at the same time', async () => {
    const first = await runCodeFlow(server, client)
    const second = await refreshAndRead(first)
    server.clock.advance({ seconds: 13 })
    await Promise.all(Array.from({ length: 20 }, (_, n) => refresh(n % 2 ? first : second)))
    const row = await readRow(first)
    // Either every late repeat came before the use of the successor, or one came after it and ended
    // the grant.
    expect(row.revoked_at === null ? row.generation : 'ended').toBeOneOf([2, 'ended'])
  })

  it.each([
    ['before the owner', ['thief', 'owner']],
    ['after the owner', ['owner', 'thief']],
  ] as const)(
    'is detected if a thief and the owner refresh in turns, and the thief refreshes %s',
    async (_, order) => {
      let owner = await runCodeFlow(server, client)
      let thief = owner
      const refreshes = { owner: 0, thief: 0 }
      let seen = false
      for (let round = 0; round < 10 && !seen; round += 1) {
        for (const who of order) {
          server.clock.advance({ seconds: 1800 })
          const reply = await refresh(who === 'owner' ? owner : thief)
          if (reply.status !== 200) {
            seen = true
            break
          }
          const tokens = (await reply.json()) as TokenReply
          if (who === 'owner') owner = tokens
          else thief = tokens
          refreshes[who] += 1
        }
      }
      expect(seen).toBe(true)
      expect(refreshes.thief).toBeLessThanOrEqual(2)
      await expectRefused(owner)
      await expectRefused(thief)
      expect((await readRow(owner)).revoked_at).not.toBeNull()
    },
  )

  it('does not end the grant if the response is lost at every second refresh, as in repeated outages', async () => {
    let tokens = await runCodeFlow(server, client)
    for (let round = 0; round < 4; round += 1) {
      await refreshAndRead(tokens)
      server.clock.advance({ seconds: 60 })
      tokens = await refreshAndRead(await refreshAndRead(tokens))
    }
  })

  it('is refused after the client secret was rotated (threat T7)', async () => {
    const own = await createClient(server)
    const first = await runCodeFlow(server, own)
    await refreshAndRead(first, { by: own })
    server.clock.advance({ seconds: 60 })
    const { secret } = await server.oauth.clients.rotateSecret(own.id)
    await expectRefused(first, { by: { id: own.id, secret: secret ?? '' } })
  })

  it('returns no new refresh token if the old one has expired', async () => {
    const short = await startServer({ refreshTokensExpireIn: '1h' })
    try {
      const own = await createClient(short)
      const first = await runCodeFlow(short, own)
      const ask = () =>
        short.post('/oauth/token', {
          grant_type: 'refresh_token',
          client_id: own.id,
          client_secret: own.secret,
          refresh_token: first.refresh_token,
        })
      short.clock.advance({ seconds: 3500 })
      expect((await ask()).status).toBe(200)
      short.clock.advance({ seconds: 90 })
      expect((await ask()).status).toBe(200)
      short.clock.advance({ seconds: 60 })
      expect((await ask()).status).toBe(400)
    } finally {
      await short.close()
    }
  })
})

describe('a database that lost the latest refreshes, for example in a failover (threat F2),', () => {
  it('accepts a refresh token that is newer than its row, while an older refresh token ends the grant', async () => {
    const first = await runCodeFlow(server, client)
    const row = await readRow(first)
    const second = await refreshAndRead(first)
    const third = await refreshAndRead(await refreshAndRead(second))
    await restoreOldRow(row)
    const fourth = await refreshAndRead(third)
    expect((await readRow(first)).generation).toBe(4)
    expect(JSON.stringify(server.logged)).toContain('from generation 0 to 4')
    await refreshAndRead(fourth)
    await expectRefused(second)
    await expectRefused(fourth)
  })

  it('gives the same result to fifty concurrent uses of a refresh token that is newer than its row', async () => {
    const first = await runCodeFlow(server, client)
    const row = await readRow(first)
    const third = await refreshAndRead(await refreshAndRead(first))
    await restoreOldRow(row)
    const found = await Promise.all(Array.from({ length: 50 }, () => refreshAndRead(third)))
    expect(new Set(found.map(({ refresh_token }) => refresh_token)).size).toBe(1)
    expect((await readRow(first)).generation).toBe(3)
  })

  it('does not make a revoked grant valid again', async () => {
    const first = await runCodeFlow(server, client)
    const row = await readRow(first)
    const third = await refreshAndRead(await refreshAndRead(first))
    await restoreOldRow({ ...row, revoked_at: server.clock.now().getTime() })
    await expectRefused(third)
  })

  it('does not undo a revocation that this process knows, even if the row has lost it', async () => {
    const first = await runCodeFlow(server, client)
    const row = await readRow(first)
    const third = await refreshAndRead(await refreshAndRead(first))
    await server.oauth.tokens.revoke(idOf(first))
    await restoreOldRow(row)
    await expectRefused(third)
    await expectRefused(first)
  })
})

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { authorizationCode, type OAuthEvents, refreshToken } from '../../src/index.ts'
import type { TokenRow } from '../../src/storage/kysely/tables.ts'
import {
  codeFlow,
  createClient,
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

async function next(tokens: TokenReply, how: { by?: Credentials } = {}): Promise<TokenReply> {
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
async function putBack(row: TokenRow): Promise<void> {
  await server.database.kysely
    .updateTable('oauth_tokens')
    .set(row)
    .where('id', '=', row.id)
    .execute()
}

describe('threat T6 a client whose refresh response was lost', () => {
  it('threat T6 can retry after more than ten seconds, gets the lost refresh token, and continues', async () => {
    const first = await codeFlow(server, client)
    const lost = await next(first)
    server.clock.advance(13)
    const found = await next(first)
    expect(found.refresh_token).toBe(lost.refresh_token)
    // The same claims; an ECDSA signature differs each time.
    expect(unsigned(found)).toBe(unsigned(lost))
    await next(await next(found))
  })

  it('threat T6 can retry several times, for a day', async () => {
    const first = await codeFlow(server, client)
    const lost = await next(first)
    for (const seconds of [13, 60, HOUR, 22 * HOUR]) {
      server.clock.advance(seconds)
      expect((await next(first)).refresh_token).toBe(lost.refresh_token)
    }
    server.clock.advance(HOUR)
    await expectRefused(first)
    await expectRefused(lost)
  })

  it('threat T6 can retry for an hour if it is public', async () => {
    const app = await createClient(server, { confidential: false })
    const first = await codeFlow(server, app)
    const lost = await next(first, { by: app })
    server.clock.advance(HOUR)
    expect((await next(first, { by: app })).refresh_token).toBe(lost.refresh_token)
    server.clock.advance(1)
    await expectRefused(first, { by: app })
    await expectRefused(lost, { by: app })
  })

  it('threat T6 can retry for as long as configured, separately for public clients', async () => {
    const strict = await startServer({
      grants: [authorizationCode(), refreshToken({ repeatableFor: false })],
    })
    try {
      const own = await createClient(strict)
      const first = await codeFlow(strict, own)
      const ask = () =>
        strict.post('/oauth/token', {
          grant_type: 'refresh_token',
          client_id: own.id,
          client_secret: own.secret,
          refresh_token: first.refresh_token,
        })
      expect((await ask()).status).toBe(200)
      strict.clock.advance(11)
      expect((await ask()).status).toBe(400)
    } finally {
      await strict.close()
    }
  })

  it('threat T6 causes a log entry and an event by each late repeat, and neither by one within ten seconds', async () => {
    const first = await codeFlow(server, client)
    const lost = await next(first)
    await next(first)
    expect([repeats, server.logged]).toEqual([[], []])
    server.clock.advance(13)
    await next(first)
    await next(first)
    const id = idOf(first)
    const event = {
      refreshTokenId: `${id}.1`,
      accessTokenId: id,
      userId: 'ada',
      clientId: client.id,
    }
    expect(repeats).toEqual([event, event])
    expect(server.logged).toHaveLength(2)
    expect(JSON.stringify(server.logged)).toContain(`13 s after its use`)
    for (const secret of [first.refresh_token, lost.refresh_token]) {
      expect(JSON.stringify(server.logged)).not.toContain(secret)
    }
  })

  it('threat T6 gets the same refresh token from fifty concurrent late repeats', async () => {
    const first = await codeFlow(server, client)
    const lost = await next(first)
    server.clock.advance(60)
    const found = await Promise.all(Array.from({ length: 50 }, () => next(first)))
    expect(new Set(found.map(({ refresh_token }) => refresh_token))).toEqual(
      new Set([lost.refresh_token]),
    )
    expect((await readRow(first)).generation).toBe(1)
  })

  it('threat T6 cannot extend any lifetime by a late repeat', async () => {
    const first = await codeFlow(server, client)
    await next(first)
    const before = await readRow(first)
    server.clock.advance(HOUR)
    const found = await next(first)
    expect(await readRow(first)).toEqual({ ...before, late_generation: 1 })
    expect(found.expires_in).toBe((before.expires_at - server.clock.now().getTime()) / 1000)
  })

  it('threat T5 can narrow the scope by a late repeat and never widen it', async () => {
    const first = await codeFlow(server, client, { scope: 'place-orders' })
    await next(first)
    server.clock.advance(60)
    const wide = await refresh(first, { scope: 'place-orders check-status' })
    expect(((await wide.json()) as { error: string }).error).toBe('invalid_scope')
    const narrow = (await (await refresh(first, { scope: 'place-orders' })).json()) as TokenReply
    expect(narrow.scope).toBe('place-orders')
  })
})

describe('threat T6 reuse of a refresh token without a lost response', () => {
  it('threat T6 ends the grant once the successor was used', async () => {
    const first = await codeFlow(server, client)
    const second = await next(first)
    const third = await next(second)
    server.clock.advance(13)
    await expectRefused(first)
    await expectRefused(third)
  })

  it('threat T6 concurrent with the use of the successor leaves at most one valid result', async () => {
    const first = await codeFlow(server, client)
    const second = await next(first)
    server.clock.advance(13)
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
    'threat T6 by a thief who refreshes alternately with the owner, %s, is detected',
    async (_, order) => {
      let owner = await codeFlow(server, client)
      let thief = owner
      const refreshes = { owner: 0, thief: 0 }
      let seen = false
      for (let round = 0; round < 10 && !seen; round += 1) {
        for (const who of order) {
          server.clock.advance(1800)
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

  it('threat T6 is tolerated after occasional outages: a late repeat in every other generation continues the grant', async () => {
    let tokens = await codeFlow(server, client)
    for (let round = 0; round < 4; round += 1) {
      await next(tokens)
      server.clock.advance(60)
      tokens = await next(await next(tokens))
    }
  })

  it('threat T7 is refused after the client secret was rotated', async () => {
    const own = await createClient(server)
    const first = await codeFlow(server, own)
    await next(first, { by: own })
    server.clock.advance(60)
    const { secret } = await server.oauth.clients.rotateSecret(own.id)
    await expectRefused(first, { by: { id: own.id, secret: secret ?? '' } })
  })

  it('threat T6 returns no successor for an expired refresh token', async () => {
    const short = await startServer({ refreshTokensExpireIn: '1h' })
    try {
      const own = await createClient(short)
      const first = await codeFlow(short, own)
      const ask = () =>
        short.post('/oauth/token', {
          grant_type: 'refresh_token',
          client_id: own.id,
          client_secret: own.secret,
          refresh_token: first.refresh_token,
        })
      short.clock.advance(3500)
      expect((await ask()).status).toBe(200)
      short.clock.advance(90)
      expect((await ask()).status).toBe(200)
      short.clock.advance(60)
      expect((await ask()).status).toBe(400)
    } finally {
      await short.close()
    }
  })
})

describe('threat F2 a database that lost the last refreshes', () => {
  it('threat F2 a refresh token newer than its row continues, and older ones end the grant', async () => {
    const first = await codeFlow(server, client)
    const row = await readRow(first)
    const second = await next(first)
    const third = await next(await next(second))
    await putBack(row)
    const fourth = await next(third)
    expect((await readRow(first)).generation).toBe(4)
    expect(JSON.stringify(server.logged)).toContain('from generation 0 to 4')
    await next(fourth)
    await expectRefused(second)
    await expectRefused(fourth)
  })

  it('threat F2 fifty concurrent uses of a refresh token newer than its row have one result', async () => {
    const first = await codeFlow(server, client)
    const row = await readRow(first)
    const third = await next(await next(first))
    await putBack(row)
    const found = await Promise.all(Array.from({ length: 50 }, () => next(third)))
    expect(new Set(found.map(({ refresh_token }) => refresh_token)).size).toBe(1)
    expect((await readRow(first)).generation).toBe(3)
  })

  it('threat F2 a revoked grant stays revoked', async () => {
    const first = await codeFlow(server, client)
    const row = await readRow(first)
    const third = await next(await next(first))
    await putBack({ ...row, revoked_at: server.clock.now().getTime() })
    await expectRefused(third)
  })

  it('threat F2 a revocation known to this process stays in force when the row has lost it', async () => {
    const first = await codeFlow(server, client)
    const row = await readRow(first)
    const third = await next(await next(first))
    await server.oauth.tokens.revoke(idOf(first))
    await putBack(row)
    await expectRefused(third)
    await expectRefused(first)
  })
})

import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import {
  createTestDatabase,
  type TestDatabase,
} from '../../../../test-support/create-test-database.ts'
import {
  codeCall,
  createClient,
  type GuardCall,
  issue,
  killAll,
  newCode,
  refreshCall,
  type Service,
  startService,
  type TestClient,
  type Tokens,
} from './service.ts'

let test: TestDatabase
let a: Service
let b: Service
/** Each test has its own client and ignores those of other tests. */
let client: TestClient
beforeAll(async () => {
  test = await createTestDatabase()
  a = await startService(test.url)
  b = await startService(test.url)
})
beforeEach(async () => {
  client = await createClient(a)
})
afterAll(async () => {
  await killAll()
  await test.drop()
})

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/**
 * Waits until the process refuses the token: within a second it learns of revocations in another
 * one.
 */
const untilRefused = (service: Service, token: string) =>
  expect.poll(() => service.guard(token)).toBe(401)

const untilNoToken = (service: Service, own: TestClient) =>
  expect.poll(() => issue(service, own).catch(String)).toMatch(/401/)

const tokensOf = ({ id }: TestClient) =>
  test.database.kysely.selectFrom('oauth_tokens').selectAll().where('client_id', '=', id)

const liveTokensOf = (own: TestClient): Promise<unknown[]> =>
  tokensOf(own).where('revoked_at', 'is', null).execute()

describe('fifty concurrent requests to two processes (threat R1)', () => {
  it('get at most one token for the same code, and the token is then revoked because the code was used twice', async () => {
    for (let round = 0; round < 3; round += 1) {
      const code = await newCode(a, client)
      const calls = Array.from({ length: 25 }, () => codeCall(client, code))
      const replies = (await Promise.all([a.burst(calls), b.burst(calls)])).flat()
      const won = replies.filter(({ status }) => status === 200)
      expect(won.length).toBeLessThanOrEqual(1)
      for (const { status, body } of replies) {
        if (status !== 200) expect([status, body.error]).toEqual([400, 'invalid_grant'])
      }
      // The other requests came after the successful one, which indicates a leak.
      expect(await liveTokensOf(client)).toEqual([])
      expect((await tokensOf(client).execute()).length).toBe(round + 1)
      for (const { body } of won) {
        for (const service of [a, b]) {
          await untilRefused(service, body.access_token ?? '')
          const again = await service.send(refreshCall(client, body.refresh_token ?? ''))
          expect(again.status).toBe(400)
        }
      }
    }
  })

  it('get the same new refresh token for the same old one, and a later replay revokes the token family', async () => {
    for (let round = 0; round < 3; round += 1) {
      const first = await issue(a, client)
      const calls = Array.from({ length: 25 }, () => refreshCall(client, first.refresh_token))
      const replies = (await Promise.all([a.burst(calls), b.burst(calls)])).flat()
      const won = replies.filter(({ status }) => status === 200)
      expect(won.length).toBeGreaterThan(0)
      expect(new Set(won.map(({ body }) => body.refresh_token)).size).toBe(1)
      // Compared without the signature: ES256 signatures differ each time.
      const said = won.map(({ body }) => body.access_token?.split('.').slice(0, 2).join('.'))
      expect(new Set(said).size).toBe(1)
      const successor = won[0]?.body as unknown as Tokens
      expect(await liveTokensOf(client)).toMatchObject([{ generation: 1 }])
      expect(await b.guard(successor.access_token)).toBe(200)
      // A replay counts as one only after the successor was used.
      expect((await b.send(refreshCall(client, successor.refresh_token))).status).toBe(200)
      expect((await b.send(refreshCall(client, first.refresh_token))).status).toBe(400)
      expect(await liveTokensOf(client)).toEqual([])
      for (const { access_token, refresh_token } of [first, successor]) {
        await untilRefused(a, access_token)
        expect((await a.send(refreshCall(client, refresh_token))).status).toBe(400)
      }
    }
  })
})

describe('revoking in one process (threat G3)', () => {
  interface Watched {
    readonly status: number
    readonly lastAccepted: number
    readonly refusedAt: number | null
    readonly requests: number
    readonly others: string[]
  }

  /** Runs `revoke` in A while B calls its guard continuously. */
  async function expectRefusedInTime(
    credentials: GuardCall,
    revoke: () => Promise<{ readonly at: number }>,
  ): Promise<void> {
    expect(await b.ask('guard', credentials)).toBe(200)
    const watching = b.ask<Watched>('untilRefused', { credentials, patience: 15_000 })
    // B handles commands in order, so its loop has started once this one is answered.
    expect(await b.ask('guard', credentials)).toBe(200)
    const { at } = await revoke()
    const { status, lastAccepted, requests, others } = await watching
    expect(status).toBe(401)
    // A guarantee, not a measure of speed: a process that is late refuses the request.
    expect(lastAccepted - at).toBeLessThanOrEqual(1000)
    expect(requests).toBeGreaterThan(1)
    // The feed is read on a timer, not for each request.
    expect(others).toEqual([])
  }

  const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

  it('a token, client, user, consent or session takes effect in another process within a second', async () => {
    const byRevoke = await issue(a, client)
    await expectRefusedInTime(bearer(byRevoke.access_token), async () => {
      const form = { client_id: client.id, client_secret: client.secret }
      await a.send({ path: '/oauth/revoke', form: { ...form, token: byRevoke.refresh_token } })
      return { at: Date.now() }
    })
    const reused = await issue(b, client)
    await expectRefusedInTime(bearer(reused.access_token), async () => {
      const { body } = await a.send(refreshCall(client, reused.refresh_token))
      await a.send(refreshCall(client, (body as unknown as Tokens).refresh_token))
      await a.send(refreshCall(client, reused.refresh_token))
      return { at: Date.now() }
    })
    const doomed = await createClient(a)
    const ofClient = await issue(b, doomed)
    await expectRefusedInTime(bearer(ofClient.access_token), () =>
      a.call('clients.revoke', doomed.id),
    )
    const ofUser = await issue(b, client, 'bob')
    await expectRefusedInTime(bearer(ofUser.access_token), () => a.call('revokeUser', 'bob'))
    const ofConsent = await issue(b, client, 'eve')
    await expectRefusedInTime(bearer(ofConsent.access_token), () =>
      a.call('consents.revoke', 'eve', client.id),
    )
    const session = await b.ask<GuardCall>('freshToken', { session: 'ada.7' })
    await expectRefusedInTime(session, () => a.call('endSession', 'ada.7'))
    const cookie = await b.ask<GuardCall>('freshToken', { session: 'bob.8' })
    await expectRefusedInTime(cookie, () => a.call('revokeUser', 'bob'))
  })

  it('a signing key takes effect in another process, and no other token is refused meanwhile', async () => {
    const old = await issue(a, client)
    await a.call('keys.rotate', { immediately: true })
    const { result } = await a.call<Array<{ kid: string }>>('keys.list')
    const kid = JSON.parse(
      Buffer.from(old.access_token.split('.')[0] ?? '', 'base64url').toString(),
    ).kid
    expect(result.map((key) => key.kid)).toContain(kid)
    const young = await issue(a, client)
    expect(await b.guard(young.access_token)).toBe(200)
    expect(await b.guard(old.access_token)).toBe(200)
    const credentials = bearer(old.access_token)
    const watching = b.ask<Watched>('untilRefused', { credentials, patience: 15_000 })
    expect(await b.ask('guard', credentials)).toBe(200)
    const { at } = await a.call('keys.revoke', kid)
    const { status, lastAccepted } = await watching
    expect(status).toBe(401)
    expect(lastAccepted - at).toBeLessThanOrEqual(1000)
    expect(await b.guard(young.access_token)).toBe(200)
  })

  it('a client or its secret takes effect in every other process within a second (threat M4)', async () => {
    const own = await createClient(a)
    await issue(b, own)
    const { result } = await a.call<{ secret: string }>('clients.rotateSecret', own.id)
    await untilNoToken(b, own)
    const rotated = { id: own.id, secret: result.secret }
    await issue(b, rotated)
    await a.call('clients.revoke', own.id)
    await untilNoToken(b, rotated)
  })
})

describe('a refresh that is concurrent with a revocation (threat R1)', () => {
  const ends: ReadonlyArray<
    [string, (own: TestClient, tokens: Tokens, user: string) => Promise<unknown>]
  > = [
    [
      'a revoked token',
      (own, tokens) =>
        b.send({
          path: '/oauth/revoke',
          form: { client_id: own.id, client_secret: own.secret, token: tokens.refresh_token },
        }),
    ],
    ['a revoked user', (_own, _tokens, user) => b.call('revokeUser', user)],
    ['a revoked consent', (own, _tokens, user) => b.call('consents.revoke', user, own.id)],
    ['a deleted client', (own) => b.call('clients.revoke', own.id)],
  ]
  it.each(ends)('leaves no valid token after %s', async (_, end) => {
    const issued: Array<{ own: TestClient; tokens: Tokens }> = []
    for (let round = 0; round < 8; round += 1) {
      const own = await createClient(a)
      const user = `user of ${own.id}`
      const first = await issue(a, own, user)
      const calls = Array.from({ length: 8 }, () => refreshCall(own, first.refresh_token))
      const [early, , late] = await Promise.all([
        a.burst(calls),
        pause(Math.random() * 10).then(() => end(own, first, user)),
        b.burst(calls),
      ])
      issued.push({ own, tokens: first })
      for (const { status, body } of [...early, ...late]) {
        expect([200, 400, 401]).toContain(status)
        if (status === 200) issued.push({ own, tokens: body as unknown as Tokens })
      }
    }
    for (const { own, tokens } of issued) {
      for (const service of [a, b]) {
        await untilRefused(service, tokens.access_token)
        const again = await service.send(refreshCall(own, tokens.refresh_token))
        expect([400, 401]).toContain(again.status)
      }
    }
  })
})

describe('a rotation of the signing key (threat G5)', () => {
  it('makes no other process refuse a valid token', async () => {
    const { url, drop } = await createTestDatabase()
    const ahead = { keyPublishedAhead: '1s' }
    const services = await Promise.all([1, 2, 3].map(() => startService(url, ahead)))
    onTestFinished(async () => {
      await Promise.all(services.map((service) => service.kill()))
      await drop()
    })
    const [issuer] = services
    if (!issuer) throw new Error('There is no process')
    const own = await createClient(issuer)
    const verdicts: Array<Promise<number[]>> = []
    const kids = new Set<string>()
    let done = false
    const strangers = flood(services, () => done)
    const issuing = (async () => {
      for (let i = 0; !done; i += 1) {
        const from = services[i % services.length] ?? issuer
        const { access_token } = await issue(from, own)
        kids.add(access_token.split('.')[0] ?? '')
        verdicts.push(Promise.all(services.map((service) => service.guard(access_token))))
      }
    })()
    for (const immediately of [true, false, true, true, false]) {
      await pause(500)
      await issuer.call('keys.rotate', { immediately })
      // However busy the machine is, each key signs for every process twice.
      const before = verdicts.length
      await expect.poll(() => verdicts.length).toBeGreaterThan(before + 2 * services.length)
    }
    await pause(1500)
    done = true
    await issuing
    await strangers
    const results = (await Promise.all(verdicts)).flat()
    expect(results.length).toBeGreaterThan(15)
    expect(results.filter((status) => status !== 200)).toEqual([])
    expect(kids.size).toBeGreaterThanOrEqual(3)
  })

  /** Sends unknown key ids, which make each process look up keys continuously. */
  async function flood(services: readonly Service[], isOver: () => boolean): Promise<void> {
    for (let i = 0; !isOver(); i += 1) {
      const header = Buffer.from(JSON.stringify({ alg: 'ES256', typ: 'at+jwt', kid: `x${i}` }))
      const forged = `${header.toString('base64url')}.e30.${'A'.repeat(86)}`
      const all = Array.from({ length: 5 }, () => ({ authorization: `Bearer ${forged}` }))
      const replies = await Promise.all(
        services.map((service) => service.ask<number[]>('guards', { all })),
      )
      expect(new Set(replies.flat())).toEqual(new Set([401]))
    }
  }
})

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createTestDatabase,
  type TestDatabase,
} from '../../../../test-support/create-test-database.ts'
import {
  codeCall,
  createClient,
  issue,
  killAll,
  newCode,
  refreshCall,
  type Service,
  startService,
  type TestClient,
  type Tokens,
} from './service.ts'

const OLD = 'the old secret of more than thirty-two characters'
const NEW = 'the new secret of more than thirty-two characters'
const AT_ONCE = 6

let test: TestDatabase
let client: TestClient
beforeAll(async () => {
  test = await createTestDatabase()
})
afterAll(async () => {
  await killAll()
  await test.drop()
})

const start = (secret: readonly string[], options: object = {}) =>
  startService(test.url, { secret, ...options })

/** Checks that each process accepts the tokens the other has issued, and refreshes them in turn. */
async function expectMutualAcceptance(one: Service, other: Service): Promise<void> {
  const rounds = Array.from({ length: AT_ONCE }, async (_, number) => {
    for (const [from, to] of [
      [one, other],
      [other, one],
    ] as const) {
      const made = await issue(from, client, `user${number}`)
      expect(await to.guard(made.access_token)).toBe(200)
      const refreshed = await to.send(refreshCall(client, made.refresh_token))
      expect(refreshed.status).toBe(200)
      const again = await from.send(refreshCall(client, refreshed.body.refresh_token ?? ''))
      expect(again.status).toBe(200)
      expect(await to.guard(again.body.access_token ?? '')).toBe(200)
      expect((await to.send(codeCall(client, await newCode(from, client)))).status).toBe(200)
      await expectCookiesAccepted(from, to, `ada.${number}`)
    }
  })
  await Promise.all(rounds)
}

interface Page {
  readonly cookie: string
  readonly csrfToken: string
}

/** Opens a page at each process. Both processes accept either cookie with either CSRF token. */
async function expectCookiesAccepted(from: Service, to: Service, session: string): Promise<void> {
  const pages = [
    await from.ask<Page>('freshToken', { session }),
    await to.ask<Page>('freshToken', { session }),
  ]
  for (const { cookie } of pages) {
    for (const { csrfToken } of pages) {
      for (const service of [from, to]) {
        expect(await service.ask('guard', { cookie, csrfToken })).toBe(200)
      }
    }
  }
}

describe("a change of the server's secret", () => {
  it('takes two rolling restarts and keys.reseal(), and every valid request succeeds meanwhile', async () => {
    const before = await start([OLD])
    client = await createClient(before)
    const unused = await issue(before, client, 'idle')
    const opaque = await start([OLD], { accessTokenFormat: 'opaque' })
    const unusedOpaque: Tokens = await issue(opaque, client, 'idle')
    await opaque.kill()

    // 1. All processes know the new secret; none uses it.
    const knowing = await start([OLD, NEW])
    await expectMutualAcceptance(before, knowing)
    await before.kill()

    // 2. All processes use it.
    const using = await start([NEW, OLD])
    await expectMutualAcceptance(knowing, using)
    await using.call('keys.rotate', { immediately: true })
    await expectMutualAcceptance(knowing, using)
    await knowing.kill()
    await expect(start([NEW])).rejects.toThrow('keys reseal')

    // 3. Stored secrets are resealed with it, and the old one is dropped.
    expect((await using.call('keys.toReseal')).result).toBe(2)
    const [first] = await Promise.all([
      using.call<number>('keys.reseal'),
      expectMutualAcceptance(using, using),
    ])
    expect(first.result).toBe(2)
    expect((await using.call('keys.reseal')).result).toBe(0)
    expect((await using.call('keys.toReseal')).result).toBe(0)
    const after = await start([NEW])
    await expectMutualAcceptance(using, after)
    await using.kill()

    // Tokens issued under the old secret and unused since still work.
    expect(await after.guard(unused.access_token)).toBe(200)
    expect(await after.guard(unusedOpaque.access_token)).toBe(200)
    for (const { refresh_token } of [unused, unusedOpaque]) {
      expect((await after.send(refreshCall(client, refresh_token))).status).toBe(200)
    }
  })
})

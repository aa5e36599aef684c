import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createTestDatabase,
  type TestDatabase,
} from '../../../../test-support/create-test-database.ts'
import { claimsOf, makeProof, newHolder } from '../dpop/support.ts'
import {
  createClient,
  issue,
  killAll,
  newCode,
  refreshCall,
  type Service,
  startService,
  type TestClient,
  tokenCall,
} from './service.ts'

const MINUTE = 60_000
const DAY = 24 * 3600 * 1000
const PROOFS = { takesProofs: true }

/** Two processes with the correct time, and the tokens of one client. */
describe('one of several processes (threat Q5), with a clock that is', () => {
  let test: TestDatabase
  let one: Service
  let two: Service
  let client: TestClient
  beforeAll(async () => {
    test = await createTestDatabase()
    one = await startService(test.url, PROOFS)
    two = await startService(test.url, PROOFS)
    client = await createClient(one)
  })
  afterAll(async () => {
    await killAll()
    await test.drop()
  })

  it('20 minutes ahead, does not delete the record of a DPoP proof that could still be replayed', async () => {
    const url = 'http://localhost:4999/oauth/token'
    const dpop = await makeProof(await newHolder(), { url, method: 'POST', at: new Date() })
    const form = { grant_type: 'client_credentials' }
    const call = { ...tokenCall(client, form), headers: { dpop } }
    expect((await one.send(call)).status).toBe(200)
    const wrong = await startService(test.url, { clockAhead: 20 * MINUTE })
    await wrong.call('purge').catch(() => {})
    expect((await two.send(call)).body).toMatchObject({ error: 'invalid_dpop_proof' })
    await wrong.kill()
  })

  it('400 days ahead, does not delete valid refresh tokens', async () => {
    const { refresh_token } = await issue(one, client)
    const wrong = await startService(test.url, { clockAhead: 400 * DAY })
    await wrong.call('purge').catch(() => {})
    expect((await one.send(refreshCall(client, refresh_token))).status).toBe(200)
    await wrong.kill()
  })

  it.each([10, -10])(
    'wrong by %i minutes, revokes no token family of an honest client',
    async (minutes) => {
      const wrong = await startService(test.url, { clockAhead: minutes * MINUTE })
      const families = await Promise.all([1, 2, 3, 4, 5, 6].map(() => issue(one, client)))
      for (const { refresh_token } of families) {
        // Whatever the result was, the client repeats its request at another process.
        await wrong.send(refreshCall(client, refresh_token))
        const repeated = await two.send(refreshCall(client, refresh_token))
        expect(repeated.status).toBe(200)
        const next = await one.send(refreshCall(client, repeated.body.refresh_token ?? ''))
        expect(next.status).toBe(200)
      }
      await wrong.kill()
    },
  )

  it('wrong by two minutes, issues no tokens, but still checks and revokes them', async () => {
    const wrong = await startService(test.url, { clockAhead: 2 * MINUTE })
    const { access_token, refresh_token } = await issue(one, client)
    for (const call of [
      refreshCall(client, refresh_token),
      tokenCall(client, { grant_type: 'client_credentials' }),
    ]) {
      const { status, body } = await wrong.send(call)
      expect([status, body.error]).toEqual([503, 'temporarily_unavailable'])
    }
    await expect(newCode(wrong, client)).rejects.toThrow()
    await expect(
      wrong.call('tokens.createPersonal', { userId: 'ada', name: 'Mine' }),
    ).rejects.toThrow("ahead of the database's")
    expect(await wrong.guard(access_token)).toBe(200)
    const { form = {} } = tokenCall(client, { token: access_token })
    expect((await wrong.send({ path: '/oauth/revoke', form })).status).toBe(200)
    expect(await wrong.guard(access_token)).toBe(401)
    await wrong.kill()
  })

  it('wrong by less than the limit, issues tokens by the clock of the database', async () => {
    const late = await startService(test.url, { clockAhead: -50_000 })
    const { access_token } = await issue(late, client)
    const { iat } = claimsOf(access_token)
    expect(Math.abs(Number(iat) * 1000 - Date.now())).toBeLessThan(20_000)
    await late.kill()
  })
})

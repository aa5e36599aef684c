import { plan } from '@tollgate/gate'
import { describe, expect, it, onTestFinished } from 'vitest'
import { findRedis, type RedisServer, startRedis } from '../../../test-support/redis-server.ts'
import { startGate, type TestGate, user } from './start-gate.ts'

const redisIsMissing = findRedis() === null
const suffix = redisIsMissing ? ' (skipped: redis-server is not installed)' : ''

const plans = { free: plan({ quota: { calls: 'unlimited' }, rate: '6/hour' }) }

async function start() {
  const redis = await startRedis()
  onTestFinished(() => redis.kill())
  const test = await startGate({ plans, redis: redis.url })
  const gates = [await test.another(), await test.another()] as const
  return { ...test, redis, gates }
}

/** Calls ten times on each gate, and returns how many calls were admitted. */
async function countAdmitted(gates: readonly TestGate[], subject = user()): Promise<number> {
  const verdicts = await Promise.all(
    gates.flatMap((gate) => Array.from({ length: 10 }, async () => gate.admit(subject, 'calls'))),
  )
  for (const { allowed, reason } of verdicts) expect(allowed || reason === 'too_fast').toBe(true)
  return verdicts.filter(({ allowed }) => allowed).length
}

describe.skipIf(redisIsMissing)(`a rate that processes share through Redis${suffix}`, () => {
  it('admits the rate on all gates together, and counts each subject by itself', async () => {
    const { gates } = await start()
    expect(await countAdmitted(gates)).toBe(6)
    expect(await countAdmitted(gates, user(8))).toBe(6)
  })

  it('says when the next call is admitted', async () => {
    const { gates } = await start()
    await countAdmitted(gates)
    const refused = await gates[0].admit(user(), 'calls')
    expect(refused.response?.status).toBe(429)
    expect(refused.retryAfter).toBeGreaterThan(0)
    expect(refused.retryAfter).toBeLessThanOrEqual(3_600_000)
  })

  it('is counted by each gate while Redis is away, and by Redis when it is back', async () => {
    const { gates, redis, warnings } = await start()
    expect(await countAdmitted(gates)).toBe(6)
    await redis.kill()
    // Both gates begin with the whole rate.
    expect(await countAdmitted(gates)).toBe(12)
    expect(warnings.filter((each) => each.startsWith('Redis does not answer'))).toHaveLength(2)
    await redis.restart()
    // Once both gates use Redis again, a new subject gets the rate once.
    let id = 100
    await expect
      .poll(
        async () => {
          id += 1
          return countAdmitted(gates, user(id))
        },
        { timeout: 30_000, interval: 500 },
      )
      .toBe(6)
  })

  it('takes a connected client, and leaves it open', async () => {
    const redis: RedisServer = await startRedis()
    onTestFinished(() => redis.kill())
    const { Redis } = await import('ioredis')
    const client = new Redis(redis.url)
    onTestFinished(() => client.disconnect())
    const { gate } = await startGate({ plans, redis: client })
    expect(await countAdmitted([gate])).toBe(6)
    await gate.close()
    expect(await client.ping()).toBe('PONG')
  })
})

describe('a rate that processes cannot share', () => {
  it('is counted by the gate when Redis never answered', async () => {
    const { gate, warnings } = await startGate({ plans, redis: 'redis://127.0.0.1:1' })
    expect(await countAdmitted([gate])).toBe(6)
    expect(warnings.filter((each) => each.startsWith('Redis does not answer'))).toHaveLength(1)
  })
})

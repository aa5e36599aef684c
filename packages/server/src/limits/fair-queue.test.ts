import { describe, expect, it } from 'vitest'
import { createFairQueue, type QueuedCaller } from './fair-queue.ts'
import { queuePolicy } from './policies.ts'

const POLICY = {
  maxRunning: 2,
  maxRunningPerNetwork: 1,
  maxPerNetwork: 4,
  maxQueued: 4,
  timeout: 10_000,
}

function start(changes: Partial<typeof POLICY> = {}) {
  const queue = createFairQueue({ ...POLICY, ...changes })
  const began: string[] = []
  return {
    began,
    /** Starts work that runs until `end()` is called. */
    enter(name: string, caller: Partial<QueuedCaller> = {}) {
      let end = () => {}
      const network = name.split(' ')[0] ?? ''
      const done = queue.run({ network, isKnown: false, ...caller }, () => {
        began.push(name)
        return new Promise<void>((resolve) => {
          end = resolve
        })
      })
      done.catch(() => {})
      return { done, end: () => end() }
    },
  }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

describe('the queue for password hashing (threat L3)', () => {
  it('alternates between networks, and serves known networks first', async () => {
    const { enter, began } = start({ maxQueued: 20 })
    const all = ['a 1', 'a 2', 'a 3', 'b 1', 'b 2', 'c 1'].map((name) => enter(name))
    const known = enter('d known', { isKnown: true })
    expect(began).toEqual(['a 1', 'b 1'])
    for (let round = 0; round < 7; round += 1) {
      for (const each of [...all, known]) each.end()
      await settled()
      await settled()
    }
    await Promise.all([...all, known].map((each) => each.done))
    expect(began.slice(0, 3)).toEqual(['a 1', 'b 1', 'd known'])
    expect(began).toHaveLength(7)
    expect(began.indexOf('c 1')).toBeLessThan(began.indexOf('a 3'))
  })

  it('limits the running and waiting requests of each network, and responds to further ones with 429', async () => {
    const { enter } = start({ maxQueued: 20 })
    const all = Array.from({ length: 4 }, (_, index) => enter(`a ${index}`))
    await expect(enter('a 5').done).rejects.toMatchObject({ status: 429, retryAfterSeconds: 1 })
    const others = enter('b 1')
    for (let round = 0; round < 6; round += 1) {
      for (const each of [...all, others]) each.end()
      await settled()
    }
    await Promise.all([...all, others].map((each) => each.done))
  })

  it('when full rejects the newest request of the network with the most waiting requests (threat Q6)', async () => {
    const { enter, began } = start({ maxPerNetwork: 10 })
    const greedy = Array.from({ length: 5 }, (_, index) => enter(`a ${index}`))
    const other = enter('b 1')
    const late = enter('c 1')
    await expect(greedy[4]?.done).rejects.toMatchObject({ status: 503 })
    // The newcomer belongs to the largest network, so it is rejected itself.
    await expect(enter('a 6').done).rejects.toMatchObject({ status: 503 })
    for (let round = 0; round < 6; round += 1) {
      for (const each of [...greedy, other, late]) each.end()
      await settled()
      await settled()
    }
    await Promise.all([...greedy.slice(0, 4), other, late].map((each) => each.done))
    expect(began).toContain('c 1')
  })

  it('responds with 503 if a request has waited too long', async () => {
    const { enter } = start({ timeout: 20 })
    const running = [enter('a 1'), enter('b 1')]
    await expect(enter('c 1').done).rejects.toMatchObject({ status: 503 })
    for (const each of running) each.end()
    await Promise.all(running.map((each) => each.done))
    const next = enter('c 2')
    next.end()
    await next.done
  })

  it('serves other networks while a thousand networks overload it (threat Q6)', async () => {
    const queue = createFairQueue(queuePolicy)
    const work = () => settled()
    const flood = Array.from({ length: 4000 }, (_, index) =>
      queue.run({ network: `n${index % 1000}`, isKnown: false }, work).catch(() => 'refused'),
    )
    const owner = queue.run({ network: 'home', isKnown: true }, async () => 'in')
    const stranger = queue.run({ network: 'elsewhere', isKnown: false }, async () => 'in')
    expect(await owner).toBe('in')
    expect(await stranger).toBe('in')
    await Promise.all(flood)
  })
})

import { describe, expect, it } from 'vitest'
import { turnPolicy } from './policies.ts'
import { createTurns, type TurnOf } from './turns.ts'

const POLICY = { atOnce: 2, atOnceOfOneNetwork: 1, ofOneNetwork: 4, waiting: 4, patience: 10_000 }

function start(changes: Partial<typeof POLICY> = {}) {
  const turns = createTurns({ ...POLICY, ...changes })
  const began: string[] = []
  return {
    began,
    /** Work that ends when it is told so. */
    enter(name: string, whose: Partial<TurnOf> = {}) {
      let end = () => {}
      const network = name.split(' ')[0] ?? ''
      const done = turns.pass({ network, isKnown: false, ...whose }, () => {
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

describe('threat L3 turns at hashing', () => {
  it('go round the networks, and to known ones first', async () => {
    const { enter, began } = start({ waiting: 20 })
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

  it('are so many of one network, compared or waiting; then 429', async () => {
    const { enter } = start({ waiting: 20 })
    const all = Array.from({ length: 4 }, (_, index) => enter(`a ${index}`))
    await expect(enter('a 5').done).rejects.toMatchObject({ status: 429, retryAfterSeconds: 1 })
    const others = enter('b 1')
    for (let round = 0; round < 6; round += 1) {
      for (const each of [...all, others]) each.end()
      await settled()
    }
    await Promise.all([...all, others].map((each) => each.done))
  })

  it('threat Q6 whose waiting room is full are taken from the network that has the most there', async () => {
    const { enter, began } = start({ ofOneNetwork: 10 })
    const greedy = Array.from({ length: 5 }, (_, index) => enter(`a ${index}`))
    const other = enter('b 1')
    const late = enter('c 1')
    await expect(greedy[4]?.done).rejects.toMatchObject({ status: 503 })
    // It would lose its own: nothing is gained by asking more often.
    await expect(enter('a 6').done).rejects.toMatchObject({ status: 503 })
    for (let round = 0; round < 6; round += 1) {
      for (const each of [...greedy, other, late]) each.end()
      await settled()
      await settled()
    }
    await Promise.all([...greedy.slice(0, 4), other, late].map((each) => each.done))
    expect(began).toContain('c 1')
  })

  it('are waited for so long and no longer; then 503', async () => {
    const { enter } = start({ patience: 20 })
    const running = [enter('a 1'), enter('b 1')]
    await expect(enter('c 1').done).rejects.toMatchObject({ status: 503 })
    for (const each of running) each.end()
    await Promise.all(running.map((each) => each.done))
    const next = enter('c 2')
    next.end()
    await next.done
  })

  it('threat Q6 a thousand networks with more than there is room for keep nobody else out', async () => {
    const turns = createTurns(turnPolicy)
    const work = () => settled()
    const flood = Array.from({ length: 4000 }, (_, index) =>
      turns.pass({ network: `n${index % 1000}`, isKnown: false }, work).catch(() => 'refused'),
    )
    const owner = turns.pass({ network: 'home', isKnown: true }, async () => 'in')
    const stranger = turns.pass({ network: 'elsewhere', isKnown: false }, async () => 'in')
    expect(await owner).toBe('in')
    expect(await stranger).toBe('in')
    await Promise.all(flood)
  })
})

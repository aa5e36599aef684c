import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { memoryStorage } from '../storage/memory.ts'
import { movableClock } from '../testing/movable-clock.ts'
import { requestRates, ticketQuotas } from './policies.ts'
import {
  createResourceLimits,
  MIN_TOTAL_TO_NETWORK_RATIO,
  planEvictions,
  type TicketQuota,
} from './resources.ts'

const KIND = 'pushed request'

function start() {
  const clock = movableClock()
  let added = 0
  const storage = memoryStorage({ clock })
  const logger = { error: () => {} }
  const { tickets, limits } = storage
  const resources = createResourceLimits({ tickets, limits, clock, logger })
  return {
    resources,
    tickets,
    advance: clock.advance,
    /** Adds a ticket that expires a moment after the previous one, and returns its hash. */
    async add(network: string | null, share: TicketQuota): Promise<string> {
      added += 1
      const hash = `${network} ${added}`
      const expiresAt = new Date(clock.now().getTime() + 60_000 + added)
      await resources.add({ hash, kind: KIND, content: '{}', expiresAt }, share, network)
      return hash
    },
    use: (hash: string) => tickets.change(hash, '{}', '{}', { holder: null }),
    isThere: async (hash: string) => (await tickets.find(hash)) !== null,
  }
}

describe('the rate limits', () => {
  it.each(Object.entries(ticketQuotas).filter(([, { total }]) => total !== null))(
    'allow all networks together at least a thousand times as much as one network: %s (threat Q6)',
    (_name, { ofOneNetwork, total }) => {
      expect(total).toBeGreaterThanOrEqual(1000 * ofOneNetwork)
    },
  )

  it('allow all requests from unknown networks together as much as a thousand networks (threat Q6)', async () => {
    const { resources } = start()
    const rate = { ...requestRates.deviceCodes, points: 2 }
    for (let count = 0; count < 2 * MIN_TOTAL_TO_NETWORK_RATIO; count += 1)
      await resources.count(rate, null)
    await expect(resources.count(rate, null)).rejects.toMatchObject({ status: 429 })
  })
})

describe('a rate limit', () => {
  it('rejects further requests of a network until the period ends, without affecting other networks', async () => {
    const { resources, advance } = start()
    const rate = { name: 'registrations', points: 2, seconds: 60 }
    await resources.count(rate, 'a')
    advance({ seconds: 20 })
    const takeBack = await resources.count(rate, 'a')
    await expect(resources.count(rate, 'a')).rejects.toMatchObject({ retryAfterSeconds: 40 })
    await resources.count(rate, 'b')
    await resources.count({ ...rate, name: 'other' }, 'a')
    await takeBack()
    await takeBack()
    await resources.count(rate, 'a')
    advance({ seconds: 40 })
    await resources.count(rate, 'a')
  })
})

describe('the store of pending requests', () => {
  const share = { ofOneNetwork: 3, total: null }

  it('deletes the oldest unused request of a network that has too many (threat Q7)', async () => {
    const { add, use, isThere } = start()
    const used = await add('a', share)
    await use(used)
    const [first, second] = [await add('a', share), await add('a', share)]
    const others = await add('b', share)
    await add('a', share)
    expect(await isThere(first)).toBe(true)
    await add('a', share)
    expect(await Promise.all([used, first, second, others].map(isThere))).toEqual([
      true,
      false,
      true,
      true,
    ])
  })

  it('applies only the total limit if the network of the caller is unknown', async () => {
    const { add, resources, tickets } = start()
    for (let count = 0; count < 10; count += 1) await add(null, { ...share, total: 5000 })
    expect(await tickets.countAllHeld(KIND)).toBe(10)
    await resources.trim(KIND, 4)
    expect(await tickets.countAllHeld(KIND)).toBe(4)
  })

  it('deletes the oldest request of the network with the most requests if the total limit is exceeded (threat Q6)', async () => {
    const { add, resources, tickets, use } = start()
    const one = await add('small', { ofOneNetwork: 100, total: null })
    const used = await add('large', { ofOneNetwork: 100, total: null })
    await use(used)
    for (let count = 0; count < 50; count += 1) {
      await add('large', { ofOneNetwork: 100, total: null })
    }
    for (let count = 0; count < 20; count += 1) {
      await add('middle', { ofOneNetwork: 100, total: null })
    }
    expect(await resources.trim(KIND, 31)).toBe(40)
    expect(await tickets.listHolders(KIND, 5)).toEqual([
      { holder: 'large', count: 15 },
      { holder: 'middle', count: 15 },
      { holder: 'small', count: 1 },
    ])
    expect(await tickets.find(one)).not.toBe(null)
    expect(await tickets.find(used)).not.toBe(null)
  })

  it('checks the total limit only after every hundredth part of it has been added', async () => {
    const { add, tickets } = start()
    const policy = { ofOneNetwork: 10_000, total: 1000 }
    for (let count = 0; count < 1100; count += 1) await add(`n${count % 7}`, policy)
    await expect.poll(() => tickets.countAllHeld(KIND)).toBeLessThanOrEqual(1010)
    expect(await tickets.countAllHeld(KIND)).toBeGreaterThan(900)
  })

  it('keeps used requests, and requests of other networks, even if up to a thousand networks add requests without end (threat Q6)', async () => {
    const policy = { ofOneNetwork: 2, total: 2 * MIN_TOTAL_TO_NETWORK_RATIO }
    const flood = fc.array(
      fc.record({
        network: fc.integer({ min: 1, max: MIN_TOTAL_TO_NETWORK_RATIO }),
        burst: fc.integer({ min: 1, max: 40 }),
        uses: fc.boolean(),
      }),
      { maxLength: 60 },
    )
    const known = fc.integer({ min: 0, max: 2 })
    await fc.assert(
      fc.asyncProperty(flood, flood, known, async (before, after, own) => {
        const { add, use, isThere, resources, tickets } = start()
        const used: string[] = []
        const run = async (requests: typeof before) => {
          for (const { network, burst, uses } of requests) {
            for (let count = 0; count < burst; count += 1) {
              const hash = await add(`n${network}`, policy)
              if (uses && count === 0) {
                await use(hash)
                used.push(hash)
              }
            }
          }
        }
        await run(before)
        const mine: string[] = []
        for (let count = 0; count < own; count += 1) mine.push(await add('known', policy))
        await run(after)
        await resources.trim(KIND, policy.total)
        for (const hash of [...mine, ...used]) expect(await isThere(hash)).toBe(true)
        expect(await tickets.countAllHeld(KIND)).toBeLessThanOrEqual(policy.total)
      }),
      { numRuns: 30 },
    )
  })
})

describe('planEvictions(), which decides how many entries of each holder to delete,', () => {
  it.each([
    { counts: [50], surplus: 10, isAll: true, lost: [10] },
    { counts: [50, 20, 1], surplus: 40, isAll: true, lost: [35, 5] },
    { counts: [50, 20, 1], surplus: 30, isAll: true, lost: [30] },
    { counts: [5, 5, 5], surplus: 2, isAll: true, lost: [1, 1, 1] },
    { counts: [5, 5, 5], surplus: 100, isAll: true, lost: [5, 5, 5] },
    { counts: [5, 5, 5], surplus: 100, isAll: false, lost: [1, 1, 1] },
    { counts: [50, 20], surplus: 100, isAll: false, lost: [31, 1] },
    { counts: [1, 1], surplus: 1, isAll: true, lost: [1, 1] },
    { counts: [], surplus: 3, isAll: true, lost: [] },
  ])(
    'returns $lost for holders with $counts entries if $surplus entries are too many (all holders are given: $isAll)',
    (row) => {
      const holders = row.counts.map((count, index) => ({ holder: `h${index}`, count }))
      const lost = planEvictions(holders, row.surplus, row.isAll).map(({ count }) => count)
      expect(lost).toEqual(row.lost)
    },
  )
})

import assert from 'node:assert/strict'
import type { LimitRepository } from '../../storage/repositories.ts'
import { CONTRACT_START, secondsAfterStart } from '../contract-fixtures.ts'
import type { ContractPart } from './part.ts'

/** Tests how a storage handles the counters and places of limits. */
export const defineLimitsContract: ContractPart = ({ describe, it }, create) => {
  describe('the rate limit repository', () => {
    const take = (limits: LimitRepository, holder: string, at = CONTRACT_START) =>
      limits.take({ name: 'limit', max: 3, holder, at, until: secondsAfterStart(30) })

    it('counts each of many concurrent calls, and starts at zero again after the period', async () => {
      const { limits } = await create()
      const counts = await Promise.all(
        Array.from({ length: 8 }, () =>
          limits.count('limit', CONTRACT_START, secondsAfterStart(60)),
        ),
      )
      const points = counts.map((each) => each.points).sort((one, other) => one - other)
      assert.deepEqual(points, [1, 2, 3, 4, 5, 6, 7, 8])
      await limits.uncount('limit', CONTRACT_START)
      const next = await limits.count('limit', secondsAfterStart(59), secondsAfterStart(120))
      assert.deepEqual(next, { points: 8, expiresAt: secondsAfterStart(60) })
      const anew = await limits.count('limit', secondsAfterStart(60), secondsAfterStart(120))
      assert.deepEqual(anew, { points: 1, expiresAt: secondsAfterStart(120) })
    })

    it('lets at most the allowed number of checks run concurrently', async () => {
      const { limits } = await create()
      const taken = await Promise.all(
        Array.from({ length: 8 }, (_, index) => take(limits, `holder ${index}`)),
      )
      const places = taken.flatMap(({ place }) => place ?? [])
      assert.equal(new Set(places).size, 3)
      assert.equal(places.length, 3)
      for (const each of taken) if (each.place === null) assert.equal(each.isHeld, true)
    })

    it('ends a running check only for the caller that started it', async () => {
      const { limits } = await create()
      const holders = ['a', 'b', 'c']
      const places = []
      for (const holder of holders) places.push((await take(limits, holder)).place ?? '')
      await limits.free(places[0] ?? '', 'b')
      assert.equal((await take(limits, 'd')).place, null)
      await limits.free(places[0] ?? '', 'a')
      assert.notEqual((await take(limits, 'd')).place, null)
    })

    it('keeps a recorded failure until it expires, and clearing deletes only failures', async () => {
      const { limits } = await create()
      const places = []
      for (const [index, holder] of ['a', 'b', 'c'].entries()) {
        const place = (await take(limits, holder)).place ?? ''
        await limits.fail(place, holder, secondsAfterStart(60 + index))
        places.push(place)
      }
      const full = { place: null, isHeld: false, freeAt: secondsAfterStart(60) }
      assert.deepEqual(await take(limits, 'd', secondsAfterStart(59)), full)
      // The place of a failure has no holder any more.
      await limits.free(places[0] ?? '', 'a')
      assert.deepEqual(await take(limits, 'd', secondsAfterStart(59)), full)
      const { place } = await take(limits, 'd', secondsAfterStart(60))
      assert.notEqual(place, null)
      await limits.clear('limit', 3)
      assert.notEqual((await take(limits, 'e')).place, place)
      assert.notEqual((await take(limits, 'f')).place, place)
      assert.equal((await take(limits, 'g')).place, null)
    })

    it('ends a check that reported no result in time, and ignores its late result', async () => {
      const { limits } = await create()
      const places: string[] = []
      for (const holder of ['a', 'b', 'c']) places.push((await take(limits, holder)).place ?? '')
      const again = (holder: string, from: number) =>
        limits.take({
          name: 'limit',
          max: 3,
          holder,
          at: secondsAfterStart(from),
          until: secondsAfterStart(90),
        })
      for (const holder of ['d', 'e', 'f']) assert.notEqual((await again(holder, 30)).place, null)
      for (const [index, place] of places.entries()) {
        const holder = ['a', 'b', 'c'][index] ?? ''
        await limits.fail(place, holder, secondsAfterStart(1000))
        await limits.free(place, holder)
      }
      assert.deepEqual(await again('g', 31), {
        place: null,
        isHeld: true,
        freeAt: secondsAfterStart(90),
      })
    })

    it('deletes, of the counters with a prefix, those that expire first', async () => {
      const { limits } = await create()
      for (const seconds of [30, 10, 20]) {
        await limits.count(`rate:${seconds}`, CONTRACT_START, secondsAfterStart(seconds))
      }
      await limits.count('other:5', CONTRACT_START, secondsAfterStart(5))
      assert.equal(await limits.forget('rate:', 3, 10), 0)
      assert.equal(await limits.forget('rate:', 1, 10), 2)
      const points = async (name: string) =>
        (await limits.count(name, CONTRACT_START, secondsAfterStart(60))).points
      assert.equal(await points('rate:30'), 2)
      assert.equal(await points('other:5'), 2)
      assert.equal(await points('rate:10'), 1)
    })

    it('deletes expired counters', async () => {
      const storage = await create()
      await storage.limits.count('over', CONTRACT_START, secondsAfterStart(10))
      await storage.limits.count('open', CONTRACT_START, secondsAfterStart(60))
      assert.equal(await storage.purgeExpired(secondsAfterStart(11), 10), 1)
      assert.equal(
        (await storage.limits.count('open', secondsAfterStart(11), secondsAfterStart(60))).points,
        2,
      )
    })
  })
}

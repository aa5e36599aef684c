import { describe, expect, it } from 'vitest'
import { memoryStorage } from '../storage/memory.ts'
import type { LimitRepository } from '../storage/repositories.ts'
import { createGuessingLimits, type GuessingTimes, type Verdict } from './guessing.ts'

const LIMIT = { name: 'password:ada', most: 3, seconds: 900 }
const START = Date.UTC(2030, 0, 1)

function start(times: GuessingTimes = {}, limits: LimitRepository = memoryStorage().limits) {
  let now = START
  const clock = { now: () => new Date(now) }
  return {
    guessing: createGuessingLimits({ limits, clock }, times),
    /** The same limits in another process. */
    another: () => createGuessingLimits({ limits, clock }, times),
    limits,
    advance: (seconds: number) => {
      now += seconds * 1000
    },
  }
}

type Started = ReturnType<typeof start>

const check = ({ guessing }: Pick<Started, 'guessing'>, verdict: Verdict, limit: object = {}) =>
  guessing.check(
    [{ ...LIMIT, ...limit }],
    async () => verdict,
    (found) => found,
  )

const refusal = (seconds: number) => ({
  code: 'too_many_requests',
  status: 429,
  retryAfterSeconds: seconds,
})

/** A check that ends when it is told how. */
function openCheck({ guessing }: Pick<Started, 'guessing'>, limits: readonly object[] = [{}]) {
  let finish = (_verdict: Verdict | Error) => {}
  const looking = new Promise<Verdict>((resolve, reject) => {
    finish = (verdict) => (verdict instanceof Error ? reject(verdict) : resolve(verdict))
  })
  let hasBegun = false
  const done = guessing.check(
    limits.map((each) => ({ ...LIMIT, ...each })),
    () => {
      hasBegun = true
      return looking
    },
    (found) => found,
  )
  done.catch(() => {})
  return { done, finish, hasBegun: () => hasBegun }
}

const aMoment = () => new Promise((resolve) => setTimeout(resolve, 40))

describe('threat Q6 a check of a secret', () => {
  it('is refused after so many failures, until the first of them is over', async () => {
    const own = start()
    for (let count = 0; count < LIMIT.most; count += 1) {
      await check(own, 'wrong')
      own.advance(10)
    }
    await expect(check(own, 'right')).rejects.toMatchObject(refusal(900 - 30))
    own.advance(900 - 30)
    await check(own, 'right')
  })

  it('costs nothing when it succeeds, or when it was never made', async () => {
    const own = start()
    for (let count = 0; count < 10; count += 1) {
      await check(own, 'right')
      await check(own, 'unseen')
    }
  })

  it('costs nothing when it ends with a fault of ours, which is thrown at once', async () => {
    const own = start()
    for (let count = 0; count < 10; count += 1) {
      const failing = own.guessing.check(
        [LIMIT],
        () => Promise.reject(new Error('database away')),
        () => 'wrong' as const,
      )
      await expect(failing).rejects.toThrow('database away')
    }
    await check(own, 'right')
  })

  it('waits while unfinished checks have all places, here and in another process, and is not refused', async () => {
    const own = start()
    const other = { guessing: own.another() }
    const open = [openCheck(own), openCheck(other), openCheck(own)]
    await aMoment()
    const late = [openCheck(own), openCheck(other)]
    await aMoment()
    expect(late.map((each) => each.hasBegun())).toEqual([false, false])
    for (const each of [...open, ...late]) each.finish('right')
    expect(await Promise.all([...open, ...late].map((each) => each.done))).toHaveLength(5)
  })

  it('that waited is refused when those before it failed', async () => {
    const own = start()
    const open = Array.from({ length: LIMIT.most }, () => openCheck(own))
    await aMoment()
    const late = openCheck(own)
    for (const each of open) each.finish('wrong')
    await expect(late.done).rejects.toMatchObject(refusal(900))
    expect(late.hasBegun()).toBe(false)
  })

  it('waits for so long and no longer, then is refused for a second', async () => {
    const own = start({ patience: 50 })
    const other = { guessing: own.another() }
    const open = Array.from({ length: LIMIT.most }, () => openCheck(own))
    await aMoment()
    await expect(openCheck(own).done).rejects.toMatchObject(refusal(1))
    await expect(openCheck(other).done).rejects.toMatchObject(refusal(1))
    for (const each of open) each.finish('right')
    await Promise.all(open.map((each) => each.done))
    await check(own, 'right')
  })

  it('is refused when too many of the process wait already', async () => {
    const own = start({ waiting: 2 })
    const open = Array.from({ length: LIMIT.most }, () => openCheck(own))
    await aMoment()
    const waiting = [openCheck(own), openCheck(own)]
    await expect(openCheck(own).done).rejects.toMatchObject(refusal(1))
    for (const each of [...open, ...waiting]) each.finish('right')
    await Promise.all([...open, ...waiting].map((each) => each.done))
  })

  it('has its place back when the process died, once its time is over', async () => {
    const own = start({ patience: 0 })
    const dead = { guessing: own.another() }
    for (let count = 0; count < LIMIT.most; count += 1) openCheck(dead)
    await aMoment()
    await expect(check(own, 'right')).rejects.toMatchObject(refusal(1))
    own.advance(30)
    await check(own, 'right')
  })

  it('that ends after its time takes no place from the check that has it now', async () => {
    const own = start()
    const late = Array.from({ length: LIMIT.most }, () => openCheck(own))
    await aMoment()
    own.advance(30)
    const other = { guessing: own.another() }
    const open = Array.from({ length: LIMIT.most }, () => openCheck(other))
    await aMoment()
    for (const each of late) each.finish('right')
    await Promise.all(late.map((each) => each.done))
    const next = openCheck({ guessing: own.another() })
    await aMoment()
    expect(next.hasBegun()).toBe(false)
    for (const each of [...open, next]) each.finish('right')
    await Promise.all([...open, next].map((each) => each.done))
  })

  it('keeps its place for longer where the policy says so', async () => {
    const own = start({ patience: 0 })
    openCheck({ guessing: own.another() }, [{ most: 1, leaseSeconds: 120 }])
    await aMoment()
    own.advance(119)
    await expect(check(own, 'right', { most: 1 })).rejects.toMatchObject(refusal(1))
    own.advance(1)
    await check(own, 'right', { most: 1 })
  })

  it('frees the places of failures only where a success is to clear them', async () => {
    for (const clears of [true, false]) {
      const own = start()
      for (let count = 0; count < LIMIT.most - 1; count += 1) await check(own, 'wrong')
      await check(own, 'right', { clears })
      await check(own, 'wrong')
      const next = check(own, 'right')
      if (clears) await next
      else await expect(next).rejects.toMatchObject(refusal(900))
    }
  })

  it('takes a place in each of its limits, and gives the first back when the second has none', async () => {
    const own = start()
    const limits = [LIMIT, { ...LIMIT, name: 'network', most: 1 }]
    const attempt = (verdict: Verdict) =>
      own.guessing.check(
        limits,
        async () => verdict,
        (found) => found,
      )
    await attempt('wrong')
    for (let count = 0; count < 10; count += 1) {
      await expect(attempt('right')).rejects.toMatchObject(refusal(900))
    }
    // Two of three places are still free.
    await check(own, 'wrong')
    await check(own, 'right')
  })

  it('has its place back soon after the database is back that was away when it ended', async () => {
    const { limits } = memoryStorage()
    let isAway = false
    const away: LimitRepository = {
      ...limits,
      free: (...args) =>
        isAway ? Promise.reject(new Error('database away')) : limits.free(...args),
    }
    const own = start({}, away)
    const open = Array.from({ length: LIMIT.most }, () => openCheck(own))
    await aMoment()
    isAway = true
    for (const each of open) each.finish('right')
    // The secret was right: nobody is refused because a place could not be given back.
    expect(await Promise.all(open.map((each) => each.done))).toHaveLength(LIMIT.most)
    isAway = false
    await check(own, 'right')
  })

  it('that was wrong is not answered while its failure cannot be counted, and is counted later', async () => {
    const { limits } = memoryStorage()
    let isAway = true
    const away: LimitRepository = {
      ...limits,
      fail: (...args) =>
        isAway ? Promise.reject(new Error('database away')) : limits.fail(...args),
    }
    const own = start({}, away)
    await expect(check(own, 'wrong', { most: 1 })).rejects.toThrow('database away')
    isAway = false
    await expect(check(own, 'right', { most: 1 })).rejects.toMatchObject(refusal(900))
  })

  it('finishes once, whoever says so again', async () => {
    const own = start()
    const attempt = await own.guessing.begin([{ ...LIMIT, most: 1 }])
    await attempt.finish('wrong')
    await attempt.finish('right')
    await expect(own.guessing.begin([{ ...LIMIT, most: 1 }])).rejects.toMatchObject(refusal(900))
  })
})

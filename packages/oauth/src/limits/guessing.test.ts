import { describe, expect, it } from 'vitest'
import { memoryStorage } from '../storage/memory.ts'
import type { LimitRepository } from '../storage/repositories.ts'
import { movableClock } from '../testing/movable-clock.ts'
import { createGuessingLimits, type GuessingWaitLimits, type GuessVerdict } from './guessing.ts'

const LIMIT = { name: 'password:ada', max: 3, seconds: 900 }
const START = Date.UTC(2030, 0, 1)

function start(times: GuessingWaitLimits = {}, limits: LimitRepository = memoryStorage().limits) {
  const clock = movableClock(new Date(START))
  return {
    guessing: createGuessingLimits({ limits, clock }, times),
    /** Creates the limits of a second process that shares the same store. */
    another: () => createGuessingLimits({ limits, clock }, times),
    limits,
    advance: clock.advance,
  }
}

type Started = ReturnType<typeof start>

const check = (
  { guessing }: Pick<Started, 'guessing'>,
  verdict: GuessVerdict,
  limit: object = {},
) =>
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

/** Starts a check that runs until the test calls `finish()`. */
function openCheck({ guessing }: Pick<Started, 'guessing'>, limits: readonly object[] = [{}]) {
  let finish = (_verdict: GuessVerdict | Error) => {}
  const looking = new Promise<GuessVerdict>((resolve, reject) => {
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

const shortDelay = () => new Promise((resolve) => setTimeout(resolve, 40))

describe('a check of a secret, such as a password, with a limit on failures (threat Q6)', () => {
  it('is rejected after too many wrong secrets, until the oldest failure expires', async () => {
    const own = start()
    for (let count = 0; count < LIMIT.max; count += 1) {
      await check(own, 'wrong')
      own.advance({ seconds: 10 })
    }
    await expect(check(own, 'right')).rejects.toMatchObject(refusal(900 - 30))
    own.advance({ seconds: 900 - 30 })
    await check(own, 'right')
  })

  it('counts no failure if the secret is right or was never compared', async () => {
    const own = start()
    for (let count = 0; count < 10; count += 1) {
      await check(own, 'right')
      await check(own, 'unseen')
    }
  })

  it('counts no failure if it ends with an internal error, and throws that error immediately', async () => {
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

  it('waits, instead of being rejected, while all places are taken by running checks of this or another process', async () => {
    const own = start()
    const other = { guessing: own.another() }
    const open = [openCheck(own), openCheck(other), openCheck(own)]
    await shortDelay()
    const late = [openCheck(own), openCheck(other)]
    await shortDelay()
    expect(late.map((each) => each.hasBegun())).toEqual([false, false])
    for (const each of [...open, ...late]) each.finish('right')
    expect(await Promise.all([...open, ...late].map((each) => each.done))).toHaveLength(5)
  })

  it('is refused after waiting if the checks before it found wrong secrets', async () => {
    const own = start()
    const open = Array.from({ length: LIMIT.max }, () => openCheck(own))
    await shortDelay()
    const late = openCheck(own)
    for (const each of open) each.finish('wrong')
    await expect(late.done).rejects.toMatchObject(refusal(900))
    expect(late.hasBegun()).toBe(false)
  })

  it('waits no longer than configured, and then tells the caller to retry after one second', async () => {
    const own = start({ waitTimeout: 50 })
    const other = { guessing: own.another() }
    const open = Array.from({ length: LIMIT.max }, () => openCheck(own))
    await shortDelay()
    await expect(openCheck(own).done).rejects.toMatchObject(refusal(1))
    await expect(openCheck(other).done).rejects.toMatchObject(refusal(1))
    for (const each of open) each.finish('right')
    await Promise.all(open.map((each) => each.done))
    await check(own, 'right')
  })

  it('is refused if too many checks are already waiting in this process', async () => {
    const own = start({ maxWaiting: 2 })
    const open = Array.from({ length: LIMIT.max }, () => openCheck(own))
    await shortDelay()
    const waiting = [openCheck(own), openCheck(own)]
    await expect(openCheck(own).done).rejects.toMatchObject(refusal(1))
    for (const each of [...open, ...waiting]) each.finish('right')
    await Promise.all([...open, ...waiting].map((each) => each.done))
  })

  it('stops counting as running when its lease expires after a crash of its process', async () => {
    const own = start({ waitTimeout: 0 })
    const dead = { guessing: own.another() }
    for (let count = 0; count < LIMIT.max; count += 1) openCheck(dead)
    await shortDelay()
    await expect(check(own, 'right')).rejects.toMatchObject(refusal(1))
    own.advance({ seconds: 30 })
    await check(own, 'right')
  })

  it('does not end another check that took its place after its lease expired', async () => {
    const own = start()
    const late = Array.from({ length: LIMIT.max }, () => openCheck(own))
    await shortDelay()
    own.advance({ seconds: 30 })
    const other = { guessing: own.another() }
    const open = Array.from({ length: LIMIT.max }, () => openCheck(other))
    await shortDelay()
    for (const each of late) each.finish('right')
    await Promise.all(late.map((each) => each.done))
    const next = openCheck({ guessing: own.another() })
    await shortDelay()
    expect(next.hasBegun()).toBe(false)
    for (const each of [...open, next]) each.finish('right')
    await Promise.all([...open, next].map((each) => each.done))
  })

  it('counts as running for at most the `leaseSeconds` of the policy', async () => {
    const own = start({ waitTimeout: 0 })
    openCheck({ guessing: own.another() }, [{ max: 1, leaseSeconds: 120 }])
    await shortDelay()
    own.advance({ seconds: 119 })
    await expect(check(own, 'right', { max: 1 })).rejects.toMatchObject(refusal(1))
    own.advance({ seconds: 1 })
    await check(own, 'right', { max: 1 })
  })

  it('clears earlier failures after a correct secret only if the policy has the option `clears`', async () => {
    for (const clears of [true, false]) {
      const own = start()
      for (let count = 0; count < LIMIT.max - 1; count += 1) await check(own, 'wrong')
      await check(own, 'right', { clears })
      await check(own, 'wrong')
      const next = check(own, 'right')
      if (clears) await next
      else await expect(next).rejects.toMatchObject(refusal(900))
    }
  })

  it('takes a place in each of two limits, and releases the first place if the second limit is exhausted', async () => {
    const own = start()
    const limits = [LIMIT, { ...LIMIT, name: 'network', max: 1 }]
    const attempt = (verdict: GuessVerdict) =>
      own.guessing.check(
        limits,
        async () => verdict,
        (found) => found,
      )
    await attempt('wrong')
    for (let count = 0; count < 10; count += 1) {
      await expect(attempt('right')).rejects.toMatchObject(refusal(900))
    }
    // Two of the three places are still free.
    await check(own, 'wrong')
    await check(own, 'right')
  })

  it('stops counting as running soon after a database outage', async () => {
    const { limits } = memoryStorage()
    let isAway = false
    const away: LimitRepository = {
      ...limits,
      free: (...args) =>
        isAway ? Promise.reject(new Error('database away')) : limits.free(...args),
    }
    const own = start({}, away)
    const open = Array.from({ length: LIMIT.max }, () => openCheck(own))
    await shortDelay()
    isAway = true
    for (const each of open) each.finish('right')
    // A right secret is accepted even if its place could not be released.
    expect(await Promise.all(open.map((each) => each.done))).toHaveLength(LIMIT.max)
    isAway = false
    await check(own, 'right')
  })

  it('returns no result for a wrong secret until the failure is counted, even during a database outage', async () => {
    const { limits } = memoryStorage()
    let isAway = true
    const away: LimitRepository = {
      ...limits,
      fail: (...args) =>
        isAway ? Promise.reject(new Error('database away')) : limits.fail(...args),
    }
    const own = start({}, away)
    await expect(check(own, 'wrong', { max: 1 })).rejects.toThrow('database away')
    isAway = false
    await expect(check(own, 'right', { max: 1 })).rejects.toMatchObject(refusal(900))
  })

  it('records its result only once, even if finish() is called twice', async () => {
    const own = start()
    const attempt = await own.guessing.begin([{ ...LIMIT, max: 1 }])
    await attempt.finish('wrong')
    await attempt.finish('right')
    await expect(own.guessing.begin([{ ...LIMIT, max: 1 }])).rejects.toMatchObject(refusal(900))
  })
})

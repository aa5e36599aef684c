import type { Clock } from '../clock.ts'
import { createRandomId } from '../crypto.ts'
import { TooManyRequests } from '../errors.ts'
import type { LimitRepository } from '../storage/repositories.ts'

/** How many checks of a secret may fail within a period. */
export interface GuessingPolicy {
  /** Maximum number of places: running checks plus failures within the period. */
  readonly max: number
  /** How long a failure counts, in seconds. */
  readonly seconds: number
  /**
   * Whether a successful check clears all earlier failures of the limit. Otherwise it only releases
   * its own place.
   * @default false
   */
  readonly clears?: boolean
  /**
   * After how many seconds the place of a check is released if the check never reports its result.
   * @default 30
   */
  readonly leaseSeconds?: number
}

/** A limit on failed checks of a secret, for one account, network or session. */
export interface GuessingLimit extends GuessingPolicy {
  /** Unique name among all limits, at most 190 characters. */
  readonly name: string
}

/**
 * Result of checking a secret such as a password. `unseen`: the secret was not compared, so nothing
 * is counted.
 */
export type GuessVerdict = 'right' | 'wrong' | 'unseen'

/**
 * A running check of a secret, which occupies a place in each of its limits until `finish()` is
 * called.
 */
export interface GuessingAttempt {
  /** Reports the result of the check. Further calls have no effect. */
  finish(verdict: GuessVerdict): Promise<void>
}

/**
 * Limits for guessing secrets. A check takes a place before it compares the secret, so that
 * concurrent checks cannot exceed the limit. A failure keeps the place; a success or an internal
 * error releases it. If running checks occupy the last places, the next check waits. Only failures
 * cause an immediate rejection.
 */
export interface GuessingLimits {
  /**
   * Begins a check of a secret by taking a place in each of the limits.
   * @throws TooManyRequests if failures occupy all places of one of the limits, or if waiting for a
   * running check takes too long
   */
  begin(limits: readonly GuessingLimit[]): Promise<GuessingAttempt>
  /**
   * Runs a check between `begin()` and `finish()`. `look` reads and compares the secret, `judge`
   * turns its result into a verdict. An error from `look` counts as `unseen`.
   * @throws TooManyRequests as `begin()` does
   * @example
   * ```ts
   * const user = await guessing.check(
   *   [{ name: `password:${email}`, max: 10, seconds: 900 }],
   *   () => findUser(email, password),
   *   (found) => (found ? 'right' : 'wrong'),
   * )
   * ```
   */
  check<T>(
    limits: readonly GuessingLimit[],
    look: () => Promise<T>,
    judge: (found: T) => GuessVerdict,
  ): Promise<T>
}

/**
 * How long a check may wait for a place, and how many checks of a process may wait at the same
 * time.
 */
export interface GuessingWaitLimits {
  /**
   * How long a check waits for a place that a running check occupies, in milliseconds.
   * @default 10000
   */
  readonly waitTimeout?: number
  /**
   * How many checks of one process may wait at the same time.
   * @default 2000
   */
  readonly maxWaiting?: number
}

const FIRST_RETRY_DELAY = 25
const MAX_RETRY_DELAY = 500

/** Creates the limits on guessing secrets, with counts in a store that all processes share. */
export function createGuessingLimits(
  { limits: store, clock }: { readonly limits: LimitRepository; readonly clock: Clock },
  { waitTimeout = 10_000, maxWaiting = 2000 }: GuessingWaitLimits = {},
): GuessingLimits {
  const gates = createGates()
  let waiting = 0
  let writingLater = 0

  /** Runs `work`, which waits. Limits how many checks wait at the same time. */
  async function wait<T>(work: () => Promise<T>): Promise<T> {
    if (waiting >= maxWaiting) throw createTooManyRequests(1000)
    waiting += 1
    try {
      return await work()
    } finally {
      waiting -= 1
    }
  }

  /** Retries until a place is free. Gives up if failures occupy all places, or at the deadline. */
  async function takePlace(limit: GuessingLimit, holder: string, deadline: number) {
    for (let pause = FIRST_RETRY_DELAY; ; pause = Math.min(2 * pause, MAX_RETRY_DELAY)) {
      const at = clock.now()
      const until = new Date(at.getTime() + leaseOf(limit))
      const taken = await store.take({ name: limit.name, max: limit.max, holder, at, until })
      if (taken.place !== null) return taken.place
      if (!taken.isHeld) throw createTooManyRequests(taken.freeAt.getTime() - at.getTime())
      const left = deadline - performance.now()
      if (left <= 0) throw createTooManyRequests(1000)
      await wait(() => sleep(Math.min(pause, left)))
    }
  }

  /** Takes a place in one limit. */
  async function enter(limit: GuessingLimit, holder: string) {
    const deadline = performance.now() + waitTimeout
    const leave = await gates.enter(limit, waitTimeout, wait)
    try {
      const place = await takePlace(limit, holder, deadline)
      return { limit, place, leave }
    } catch (error) {
      leave()
      throw error
    }
  }

  type Held = Awaited<ReturnType<typeof enter>>

  async function write(
    { limit, place }: Held,
    holder: string,
    verdict: GuessVerdict,
  ): Promise<void> {
    if (verdict === 'wrong') {
      await store.fail(place, holder, new Date(clock.now().getTime() + limit.seconds * 1000))
      return
    }
    await store.free(place, holder)
    if (verdict === 'right' && limit.clears) await store.clear(limit.name, limit.max)
  }

  /**
   * Retries writing the result of a check after an outage of the database, until the place of the
   * check expires by itself.
   */
  async function writeLater(held: Held, holder: string, verdict: GuessVerdict): Promise<void> {
    if (writingLater >= maxWaiting) return
    writingLater += 1
    const end = performance.now() + leaseOf(held.limit)
    let isDone = false
    while (!isDone && performance.now() < end) {
      await sleep(MAX_RETRY_DELAY, 'unref')
      isDone = await write(held, holder, verdict).then(
        () => true,
        () => false,
      )
    }
    writingLater -= 1
  }

  async function finishOne(held: Held, holder: string, verdict: GuessVerdict): Promise<void> {
    try {
      await write(held, holder, verdict)
    } catch (error) {
      // A right secret is accepted even if its place could not be released. A wrong one gets no
      // result before its failure is counted.
      void writeLater(held, holder, verdict)
      if (verdict === 'wrong') throw error
    } finally {
      held.leave()
    }
  }

  async function begin(limits: readonly GuessingLimit[]): Promise<GuessingAttempt> {
    const holder = createRandomId()
    const held: Held[] = []
    try {
      // One after the other in the given order, so that two checks cannot deadlock.
      for (const limit of limits) held.push(await enter(limit, holder))
    } catch (error) {
      for (const each of held) void finishOne(each, holder, 'unseen')
      throw error
    }
    let isFinished = false
    return {
      async finish(verdict) {
        if (isFinished) return
        isFinished = true
        await Promise.all(held.map((each) => finishOne(each, holder, verdict)))
      },
    }
  }

  return {
    begin,
    async check(limits, look, judge) {
      const attempt = await begin(limits)
      let verdict: GuessVerdict = 'unseen'
      try {
        const found = await look()
        verdict = judge(found)
        if (verdict === 'wrong') await attempt.finish(verdict)
        return found
      } finally {
        // Rethrows an internal error immediately, without waiting until the place is released.
        const finishing = attempt.finish(verdict)
        if (verdict === 'right') await finishing
      }
    },
  }
}

function leaseOf({ leaseSeconds = 30 }: GuessingPolicy): number {
  return leaseSeconds * 1000
}

function createTooManyRequests(milliseconds: number): TooManyRequests {
  return new TooManyRequests('Too many attempts; try again later', { milliseconds })
}

/**
 * Lets only as many checks of one limit reach the database as it has places. The others queue up in
 * this process.
 */
function createGates() {
  const gates = new Map<string, { inside: number; readonly queue: Array<() => void> }>()

  async function enter(
    { name, max }: GuessingLimit,
    waitTimeout: number,
    wait: <T>(work: () => Promise<T>) => Promise<T>,
  ): Promise<() => void> {
    const gate = gates.get(name) ?? { inside: 0, queue: [] }
    gates.set(name, gate)
    if (gate.inside < max) gate.inside += 1
    else await wait(() => takeTurn(gate.queue, waitTimeout))
    let isInside = true
    return () => {
      if (!isInside) return
      isInside = false
      // Hands the turn to the next in the queue, so that no newcomer can overtake it.
      const next = gate.queue.shift()
      if (next) return next()
      gate.inside -= 1
      if (gate.inside === 0) gates.delete(name)
    }
  }

  return { enter }
}

function takeTurn(queue: Array<() => void>, waitTimeout: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const turn = () => {
      clearTimeout(timer)
      resolve()
    }
    const timer = setTimeout(() => {
      queue.splice(queue.indexOf(turn), 1)
      reject(createTooManyRequests(1000))
    }, waitTimeout)
    queue.push(turn)
  })
}

function sleep(milliseconds: number, unref?: 'unref'): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds)
    if (unref) timer.unref?.()
  })
}

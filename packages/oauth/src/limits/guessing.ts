import type { Clock } from '../clock.ts'
import { randomId } from '../crypto.ts'
import { TooManyRequests } from '../errors.ts'
import type { LimitRepository } from '../storage/repositories.ts'

/** How many checks of a secret may fail, and in what time. */
export interface GuessingPolicy {
  /** How many places there are: checks under way and failures together. */
  readonly most: number
  /** How long a failure keeps its place, in seconds. */
  readonly seconds: number
  /** A success frees the places of all failures. Default false: only its own place. */
  readonly clears?: boolean
  /** When the place of a check is free again although nobody said how it went, in seconds. Default 30. */
  readonly leaseSeconds?: number
}

/** A policy, and the account, network or session that it counts for. */
export interface GuessingLimit extends GuessingPolicy {
  /** Unique among all limits, and at most 190 characters long. */
  readonly name: string
}

/** What came of one check. `unseen`: the secret was not compared, so nothing is counted. */
export type Verdict = 'right' | 'wrong' | 'unseen'

/** A check that has its places. */
export interface GuessingAttempt {
  /** Says how it went. Called once; a second call does nothing. */
  finish(verdict: Verdict): Promise<void>
}

/**
 * The rule for everything that can be guessed. A check takes a place before it looks, so that checks made at once are
 * not more than the limit. A failure keeps the place; a success gives it back, and so does a fault of ours. While
 * unfinished checks hold the last places, the next check waits; only failures refuse it.
 */
export interface GuessingLimits {
  /** Takes a place in each of the limits. Throws TooManyRequests when failures have all places of one of them. */
  begin(limits: readonly GuessingLimit[]): Promise<GuessingAttempt>
  /** Checks a secret between `begin` and `finish`. An error from `look` counts as `unseen`. */
  check<T>(
    limits: readonly GuessingLimit[],
    look: () => Promise<T>,
    judge: (found: T) => Verdict,
  ): Promise<T>
}

/** How much a process waits. */
export interface GuessingTimes {
  /** How long a check waits for a place that an unfinished one holds, in milliseconds. Default 10,000. */
  readonly patience?: number
  /** How many checks of one process may wait at once. Default 2,000. */
  readonly waiting?: number
}

const FIRST_LOOK_AGAIN = 25
const LAST_LOOK_AGAIN = 500

/** Creates the limits over counts that all processes share. */
export function createGuessingLimits(
  { limits: store, clock }: { readonly limits: LimitRepository; readonly clock: Clock },
  { patience = 10_000, waiting: mostWaiting = 2000 }: GuessingTimes = {},
): GuessingLimits {
  const gates = createGates()
  let waiting = 0
  let writingLater = 0

  /** A wait that is bounded in number, and in time by whoever waits. */
  async function wait<T>(work: () => Promise<T>): Promise<T> {
    if (waiting >= mostWaiting) throw tooMany(1000)
    waiting += 1
    try {
      return await work()
    } finally {
      waiting -= 1
    }
  }

  /** Asks until there is a place, or only failures are in the way. */
  async function takePlace(limit: GuessingLimit, holder: string, deadline: number) {
    for (let pause = FIRST_LOOK_AGAIN; ; pause = Math.min(2 * pause, LAST_LOOK_AGAIN)) {
      const at = clock.now()
      const until = new Date(at.getTime() + leaseOf(limit))
      const taken = await store.take({ name: limit.name, most: limit.most, holder, at, until })
      if (taken.place !== null) return taken.place
      if (!taken.isHeld) throw tooMany(taken.freeAt.getTime() - at.getTime())
      const left = deadline - performance.now()
      if (left <= 0) throw tooMany(1000)
      await wait(() => sleep(Math.min(pause, left)))
    }
  }

  /** Takes a place in one limit; gives what frees it, or keeps it for a failure. */
  async function enter(limit: GuessingLimit, holder: string) {
    const deadline = performance.now() + patience
    const leave = await gates.enter(limit, patience, wait)
    try {
      const place = await takePlace(limit, holder, deadline)
      return { limit, place, leave }
    } catch (error) {
      leave()
      throw error
    }
  }

  type Held = Awaited<ReturnType<typeof enter>>

  async function write({ limit, place }: Held, holder: string, verdict: Verdict): Promise<void> {
    if (verdict === 'wrong') {
      await store.fail(place, holder, new Date(clock.now().getTime() + limit.seconds * 1000))
      return
    }
    await store.free(place, holder)
    if (verdict === 'right' && limit.clears) await store.clear(limit.name, limit.most)
  }

  /** The database was away: tries again until the place is free by itself. */
  async function writeLater(held: Held, holder: string, verdict: Verdict): Promise<void> {
    if (writingLater >= mostWaiting) return
    writingLater += 1
    const end = performance.now() + leaseOf(held.limit)
    let isDone = false
    while (!isDone && performance.now() < end) {
      await sleep(LAST_LOOK_AGAIN, 'unref')
      isDone = await write(held, holder, verdict).then(
        () => true,
        () => false,
      )
    }
    writingLater -= 1
  }

  async function finishOne(held: Held, holder: string, verdict: Verdict): Promise<void> {
    try {
      await write(held, holder, verdict)
    } catch (error) {
      // A right secret is not refused because of a place, and a wrong one is told nothing until it is counted.
      void writeLater(held, holder, verdict)
      if (verdict === 'wrong') throw error
    } finally {
      held.leave()
    }
  }

  async function begin(limits: readonly GuessingLimit[]): Promise<GuessingAttempt> {
    const holder = randomId()
    const held: Held[] = []
    try {
      // Always in this order, so that no two checks wait for each other.
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
      let verdict: Verdict = 'unseen'
      try {
        const found = await look()
        verdict = judge(found)
        if (verdict === 'wrong') await attempt.finish(verdict)
        return found
      } finally {
        // A fault of ours is answered at once; what it takes to give the place back is not waited for.
        const finishing = attempt.finish(verdict)
        if (verdict === 'right') await finishing
      }
    },
  }
}

function leaseOf({ leaseSeconds = 30 }: GuessingPolicy): number {
  return leaseSeconds * 1000
}

function tooMany(milliseconds: number): TooManyRequests {
  return new TooManyRequests('Too many attempts; try again later', { milliseconds })
}

/** Lets as many checks of one limit at the database as it has places; the others wait here, in order. */
function createGates() {
  const gates = new Map<string, { inside: number; readonly queue: Array<() => void> }>()

  async function enter(
    { name, most }: GuessingLimit,
    patience: number,
    wait: <T>(work: () => Promise<T>) => Promise<T>,
  ): Promise<() => void> {
    const gate = gates.get(name) ?? { inside: 0, queue: [] }
    gates.set(name, gate)
    if (gate.inside < most) gate.inside += 1
    else await wait(() => takeTurn(gate.queue, patience))
    let isInside = true
    return () => {
      if (!isInside) return
      isInside = false
      // Whoever leaves hands the place over, so that nobody slips in between.
      const next = gate.queue.shift()
      if (next) return next()
      gate.inside -= 1
      if (gate.inside === 0) gates.delete(name)
    }
  }

  return { enter }
}

function takeTurn(queue: Array<() => void>, patience: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const turn = () => {
      clearTimeout(timer)
      resolve()
    }
    const timer = setTimeout(() => {
      queue.splice(queue.indexOf(turn), 1)
      reject(tooMany(1000))
    }, patience)
    queue.push(turn)
  })
}

function sleep(milliseconds: number, unref?: 'unref'): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds)
    if (unref) timer.unref?.()
  })
}

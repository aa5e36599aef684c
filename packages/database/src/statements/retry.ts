import { setTimeout as sleep } from 'node:timers/promises'
import { type ErrorKindOf, hasKind, markKinds } from '../errors.ts'
import { Mutex } from './mutex.ts'

const ATTEMPTS = 10

/** Does something again while it is undone by a deadlock or the like. */
export type Retry = <R>(attempt: () => Promise<R>) => Promise<R>

/** Those of this process who collided go on one by one, because a crowd of them would never end. */
export function createRetry(timeout: number, kindOf: ErrorKindOf): Retry {
  const turn = new Mutex()

  function isUndone(error: unknown): boolean {
    markKinds(error, kindOf)
    return hasKind(error, ['undone'])
  }

  async function repeat<R>(attempt: () => Promise<R>): Promise<R> {
    for (let tries = 1; ; tries++) {
      await sleep(Math.random() * Math.min(5 * 2 ** tries, 200))
      try {
        return await attempt()
      } catch (error) {
        if (!isUndone(error) || tries === ATTEMPTS) throw error
      }
    }
  }

  return async (attempt) => {
    try {
      return await attempt()
    } catch (error) {
      if (!isUndone(error)) throw error
    }
    const leave = await turn.enter(timeout)
    try {
      return await repeat(attempt)
    } finally {
      leave()
    }
  }
}

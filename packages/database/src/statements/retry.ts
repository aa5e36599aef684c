import { setTimeout as sleep } from 'node:timers/promises'
import { type ErrorKindOf, hasErrorKind, markErrorKinds } from '../errors.ts'
import { DatabaseMutex } from './mutex.ts'

const ATTEMPTS = 10

/** Retries work that was undone, for example by a deadlock. */
export type RetryFunction = <R>(attempt: () => Promise<R>) => Promise<R>

/**
 * Creates a `RetryFunction`. Callers of this process whose work was undone by a conflict retry one
 * after the other, because concurrent retries would conflict again.
 */
export function createRetry(timeout: number, kindOf: ErrorKindOf): RetryFunction {
  const turn = new DatabaseMutex()

  function isUndone(error: unknown): boolean {
    markErrorKinds(error, kindOf)
    return hasErrorKind(error, ['undone'])
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

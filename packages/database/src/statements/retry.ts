import { setTimeout as sleep } from 'node:timers/promises'
import { isRetryable } from '../errors.ts'
import { Mutex } from './mutex.ts'

const ATTEMPTS = 10

/** Does something again while it is undone by a deadlock or the like. */
export type Retry = <R>(attempt: () => Promise<R>) => Promise<R>

/** Those of this process who collided go on one by one, so that a crowd of them comes to an end. */
export function createRetry(timeout: number): Retry {
  const turn = new Mutex()
  return async (attempt) => {
    try {
      return await attempt()
    } catch (error) {
      if (!isRetryable(error)) throw error
    }
    const leave = await turn.enter(timeout)
    try {
      return await repeat(attempt)
    } finally {
      leave()
    }
  }
}

async function repeat<R>(attempt: () => Promise<R>): Promise<R> {
  for (let tries = 1; ; tries++) {
    await sleep(Math.random() * Math.min(5 * 2 ** tries, 200))
    try {
      return await attempt()
    } catch (error) {
      if (!isRetryable(error) || tries === ATTEMPTS) throw error
    }
  }
}

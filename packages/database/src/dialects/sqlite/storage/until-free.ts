import { setTimeout as sleep } from 'node:timers/promises'
import { WaitedTooLong } from '../../../errors.ts'
import { isSqliteBusyError } from './connection.ts'

/**
 * Calls `attempt`, and retries for at most `wait` milliseconds while another process has the SQLite
 * file locked.
 */
export async function retryWhileLocked<R>(attempt: () => R, wait: number): Promise<R> {
  const deadline = performance.now() + wait
  for (let pause = 1; ; pause = Math.min(pause * 2, 16)) {
    try {
      return attempt()
    } catch (error) {
      if (!isSqliteBusyError(error)) throw error
      if (performance.now() > deadline) {
        throw new WaitedTooLong(`Waited ${wait} ms for another process using this SQLite file`, {
          cause: error,
        })
      }
    }
    await sleep(pause * (0.5 + Math.random()))
  }
}

import { WaitedTooLong } from '../../errors.ts'
import type { Mutex } from '../../statements/mutex.ts'
import type { Session } from '../engine.ts'
import type { SqliteStore } from './storage/store.ts'
import { untilFree } from './storage/until-free.ts'

/** A turn at the one connection that writes; `turn` lets in one session at a time. */
export function createSqliteSession(store: SqliteStore, turn: Mutex): Session {
  const { writer } = store
  let leave: (() => void) | undefined
  let patience = 0
  let clean = true
  let committing: Promise<void> | undefined

  return {
    async begin(wait) {
      patience = wait
      leave = await turn.enter(wait)
      store.requireUnchanged()
      clean = false
      await untilFree(() => writer.begin(), wait)
    },

    run: async (query, values) => writer.run(query, values),

    async commit() {
      const done = writer.commit().then(() => {
        clean = true
      })
      committing = done
        .catch(() => {})
        .then(() => {
          committing = undefined
        })
      await within(patience, done)
      // Into a file that is not there any more: it would be gone with this process.
      store.requireUnchanged()
      await store.committed()
    },

    // `release` does it, also for whoever forgets.
    rollback: async () => {},

    // The transaction itself is the lock: `begin immediate` admits one writer across all processes.
    lock: async () => {},

    async release() {
      const pass = leave
      if (!pass) return
      const end = () => {
        if (!clean) writer.abandon()
        pass()
      }
      // A commit that nobody waits for any more still has the connection.
      if (committing) void committing.then(end)
      else end()
    },
  }
}

function within(milliseconds: number, work: Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      const waited = `Waited ${milliseconds} ms for the disk to confirm a commit`
      reject(new WaitedTooLong(`${waited}; it may still come to pass`))
    }, milliseconds)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

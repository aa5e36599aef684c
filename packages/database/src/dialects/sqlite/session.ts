import { WaitedTooLong } from '../../errors.ts'
import type { DatabaseMutex } from '../../statements/mutex.ts'
import type { Session } from '../engine.ts'
import type { SqliteStore } from './storage/store.ts'
import { retryWhileLocked } from './storage/until-free.ts'

/** Creates a session on the only connection that writes; `turn` admits one session at a time. */
export function createSqliteSession(store: SqliteStore, turn: DatabaseMutex): Session {
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
      await retryWhileLocked(() => writer.begin(), wait)
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
      // If the file was removed or replaced, the write would be lost when this process ends.
      store.requireUnchanged()
      await store.committed()
    },

    // `release` rolls back, so that a caller who forgets to do so leaves no transaction open.
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
      // A commit whose caller gave up still uses the connection.
      if (committing) void committing.then(end)
      else end()
    },
  }
}

function within(milliseconds: number, work: Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      const waited = `Waited ${milliseconds} ms for the disk to confirm a commit`
      reject(new WaitedTooLong(`${waited}; the commit may still succeed`))
    }, milliseconds)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

import { AsyncLocalStorage } from 'node:async_hooks'
import type { TransactionRunner } from './transaction.ts'

/** The units of work of a database, each known to the code that runs inside it. */
export interface Units {
  /** Returns the transaction of the unit that the caller runs in, if any. */
  current(): TransactionRunner | undefined
  /** Runs `work` as a unit. */
  run<R>(transaction: TransactionRunner, work: () => Promise<R>): Promise<R>
}

/** Creates the units of a database. Costs nothing until the first unit has run. */
export function createUnits(): Units {
  let storage: AsyncLocalStorage<{ transaction: TransactionRunner | undefined }> | undefined
  return {
    current: () => storage?.getStore()?.transaction,
    async run(transaction, work) {
      storage ??= new AsyncLocalStorage()
      const unit: { transaction: TransactionRunner | undefined } = { transaction }
      try {
        return await storage.run(unit, work)
      } finally {
        // Timers and listeners that were started inside keep this context.
        unit.transaction = undefined
      }
    },
  }
}

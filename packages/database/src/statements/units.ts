import { AsyncLocalStorage } from 'node:async_hooks'
import type { TransactionRunner } from './transaction.ts'

interface Unit {
  /** Transaction of the unit. `undefined` once the unit has ended. */
  transaction: TransactionRunner | undefined
  /** Functions to call after the commit. */
  readonly later: Array<() => void>
}

/** Runs units of work of a database, and finds the unit that the calling code runs in. */
export interface UnitsOfWork {
  /** Returns the transaction of the unit that the caller runs in, if any. */
  current(): TransactionRunner | undefined
  /**
   * Calls `run` after the commit of the unit that the caller runs in, or immediately if it runs in
   * none.
   */
  afterCommit(run: () => void): void
  /**
   * Runs `work` as a unit. The caller of this function must commit, and then call the functions in
   * `later`.
   */
  run<R>(
    transaction: TransactionRunner,
    work: () => Promise<R>,
  ): Promise<{ readonly result: R; readonly later: ReadonlyArray<() => void> }>
}

/** Creates the `UnitsOfWork` of a database. Costs nothing until the first unit runs. */
export function createUnitsOfWork(): UnitsOfWork {
  let storage: AsyncLocalStorage<Unit> | undefined
  return {
    current: () => storage?.getStore()?.transaction,
    afterCommit(run) {
      const unit = storage?.getStore()
      if (unit?.transaction) unit.later.push(run)
      else run()
    },
    async run(transaction, work) {
      storage ??= new AsyncLocalStorage()
      const unit: Unit = { transaction, later: [] }
      try {
        return { result: await storage.run(unit, work), later: unit.later }
      } finally {
        // Timers and listeners that were started inside keep this context.
        unit.transaction = undefined
      }
    },
  }
}

import type { Dialect } from '../dialects/dialect.ts'
import type { Engine, Query, QueryResult, Runner, Session } from '../dialects/engine.ts'
import { hasErrorKind, markErrorKinds } from '../errors.ts'
import type { RetryFunction } from './retry.ts'

export interface TransactionOptions {
  readonly dialect: Dialect
  /**
   * Longest time to wait for the write lock, in milliseconds, on databases with a single writer.
   */
  readonly timeout: number
  readonly onQuery: ((sql: string) => void) | undefined
  readonly retry: RetryFunction
}

export interface TransactionRunner extends Runner {
  lock(name: string, wait: number): Promise<void>
}

/** Creates a runner for single statements, each in its own transaction. */
export function createStatementRunner(engine: Engine, options: TransactionOptions): Runner {
  const { dialect, onQuery, retry } = options
  const run = (query: Query, values: readonly unknown[]) => {
    onQuery?.(query.sql)
    return engine.run(query, values)
  }
  return {
    run: (query, values) =>
      run(query, values).catch((error) => {
        markErrorKinds(error, dialect.errorKind)
        if (!hasErrorKind(error, ['undone'])) throw error
        return retry(() => run(query, values))
      }),
  }
}

export function runInTransaction<R>(
  engine: Engine,
  options: TransactionOptions,
  work: (tx: TransactionRunner) => Promise<R>,
): Promise<R> {
  return options.retry(() => attempt(engine, options, work))
}

async function attempt<R>(
  engine: Engine,
  options: TransactionOptions,
  work: (tx: TransactionRunner) => Promise<R>,
): Promise<R> {
  const session = await engine.reserve()
  const tx = createTransactionRunner(session, options)
  let broken = false
  try {
    await session.begin(options.timeout)
    const result = await work(tx)
    await tx.end()
    await session.commit()
    return result
  } catch (error) {
    await tx.end().catch(() => {})
    // A rollback on a connection that does not respond would only wait again.
    broken =
      hasErrorKind(error, ['broken'], options.dialect.errorKind) || !(await rollback(session))
    throw error
  } finally {
    await session.release(broken)
  }
}

/**
 * Creates a runner that executes queries one after the other. After a failed statement, Postgres
 * silently turns COMMIT into a rollback. After a deadlock, MariaDB continues outside of any
 * transaction. The runner remembers the failure, so that every database rejects later statements
 * alike.
 */
function createTransactionRunner(session: Session, { dialect, onQuery }: TransactionOptions) {
  let last: Promise<unknown> = Promise.resolve()
  let failure: unknown
  let ended = false

  function next<R>(step: () => Promise<R>): Promise<R> {
    if (ended) {
      const reason = 'This transaction has ended; await every query inside its work'
      return Promise.reject(new Error(reason))
    }
    const result = last.then(async () => {
      if (failure !== undefined) throw failure
      return step()
    })
    last = result.catch((error) => {
      markErrorKinds(error, dialect.errorKind)
      failure ??= error
    })
    return result
  }

  return {
    run(query: Query, values: readonly unknown[]): Promise<QueryResult> {
      return next(() => {
        onQuery?.(query.sql)
        return session.run(query, values)
      })
    },
    lock: (name: string, wait: number) => next(() => session.lock(name, wait)),
    /** Waits for running statements, rejects later ones, and throws if any failed. */
    async end(): Promise<void> {
      ended = true
      await last
      if (failure !== undefined) throw failure
    },
  }
}

async function rollback(session: Session): Promise<boolean> {
  try {
    await session.rollback()
    return true
  } catch {
    return false
  }
}

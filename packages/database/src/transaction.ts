import { setTimeout as sleep } from 'node:timers/promises'
import type { Engine, Query, Runner, Session } from './engine.ts'
import { isRetryable, isUnavailable } from './errors.ts'

const ATTEMPTS = 8

export interface TransactionOptions {
  /** How long, in milliseconds, to wait for the right to write where there is one writer. */
  readonly timeout: number
  readonly onQuery: ((sql: string) => void) | undefined
}

export interface TransactionRunner extends Runner {
  lock(name: string, wait: number): Promise<void>
}

/** Single statements, each its own transaction. */
export function createStatementRunner(engine: Engine, { onQuery }: TransactionOptions): Runner {
  const run = (query: Query, values: readonly unknown[]) => {
    onQuery?.(query.sql)
    return engine.run(query, values)
  }
  return {
    run: (query, values) =>
      run(query, values).catch((error) => {
        if (!isRetryable(error)) throw error
        return retry(() => run(query, values))
      }),
  }
}

export function runInTransaction<R>(
  engine: Engine,
  options: TransactionOptions,
  work: (tx: TransactionRunner) => Promise<R>,
): Promise<R> {
  return retry(() => attempt(engine, options, work))
}

async function attempt<R>(
  engine: Engine,
  options: TransactionOptions,
  work: (tx: TransactionRunner) => Promise<R>,
): Promise<R> {
  const session = await engine.reserve()
  let broken = false
  try {
    await session.begin(options.timeout)
    const tx = createTransactionRunner(session, options)
    const result = await work(tx)
    tx.end()
    await session.commit()
    return result
  } catch (error) {
    // Rolling back over a connection that does not answer would only wait again.
    broken = isUnavailable(error) || !(await rollback(session))
    throw error
  } finally {
    await session.release(broken)
  }
}

/**
 * After a failed statement Postgres answers COMMIT with a silent rollback, and MariaDB after a
 * deadlock goes on outside of any transaction. Remembering the failure makes all three refuse alike.
 */
function createTransactionRunner(session: Session, { onQuery }: TransactionOptions) {
  let failure: unknown
  let ended = false
  return {
    async run(query: Query, values: readonly unknown[]) {
      if (ended) throw new Error('This transaction has ended; await every query inside its work')
      if (failure !== undefined) throw failure
      onQuery?.(query.sql)
      try {
        return await session.run(query, values)
      } catch (error) {
        failure ??= error
        throw error
      }
    },
    lock: (name: string, wait: number) => session.lock(name, wait),
    end() {
      ended = true
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

async function retry<R>(attempt: () => Promise<R>): Promise<R> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt()
    } catch (error) {
      if (!isRetryable(error) || tries === ATTEMPTS) throw error
    }
    await sleep(Math.random() * 5 * 2 ** Math.min(tries, 5))
  }
}

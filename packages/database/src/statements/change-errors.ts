import type { TranslateError } from '../database.ts'
import type { Dialect } from '../dialects/dialect.ts'
import type { Engine, Session } from '../dialects/engine.ts'
import { markErrorKinds } from '../errors.ts'
import type { TransactionRunner } from './transaction.ts'

/**
 * Returns an engine that throws the result of `change` in place of each error of the given engine.
 */
export function withTranslatedErrors(
  engine: Engine,
  dialect: Dialect,
  change: TranslateError,
): Engine {
  const changed = createErrorChanger(dialect, change)
  return {
    exactText: engine.exactText,
    run: (query, values) => changed(engine.run(query, values)),
    reserve: async () => changeErrorsOfSession(await changed(engine.reserve()), changed),
    ...(engine.connections && { connections: engine.connections }),
    close: () => engine.close(),
  }
}

/**
 * Returns a transaction that throws the result of `change` in place of each error of the given
 * transaction.
 */
export function withTranslatedTransactionErrors(
  transaction: TransactionRunner,
  dialect: Dialect,
  change: TranslateError,
): TransactionRunner {
  const changed = createErrorChanger(dialect, change)
  return {
    run: (query, values) => changed(transaction.run(query, values)),
    lock: (name, wait) => changed(transaction.lock(name, wait)),
  }
}

function changeErrorsOfSession(session: Session, changed: WithErrorsChanged): Session {
  return {
    run: (query, values) => changed(session.run(query, values)),
    begin: (wait) => changed(session.begin(wait)),
    commit: () => changed(session.commit()),
    rollback: () => session.rollback(),
    lock: (name, wait) => changed(session.lock(name, wait)),
    release: (broken) => session.release(broken),
  }
}

type WithErrorsChanged = <R>(answer: Promise<R>) => Promise<R>

/** Stores the kind of each error before changing it: only the dialect may know the kind. */
function createErrorChanger({ errorKind }: Dialect, change: TranslateError): WithErrorsChanged {
  return (answer) =>
    answer.catch((error) => {
      markErrorKinds(error, errorKind)
      throw change(error)
    })
}

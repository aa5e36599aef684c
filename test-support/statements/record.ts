import { expect } from 'vitest'
import { builtInDialects } from '../../packages/database/src/built-in-dialects.ts'
import type { Dialect } from '../../packages/database/src/dialects/dialect.ts'
import type { Runner } from '../../packages/database/src/dialects/engine.ts'
import { isTemplate } from '../create-test-database.ts'
import { normalizeStatement } from './shape.ts'

/** Each statement with the tests that sent it. */
const testsByStatement = new Map<string, Set<string>>()

const CHANGES_OR_READS = /^\s*(?:select|insert|update|delete|replace|with)\b/i

/**
 * Records every statement that the packages send from now on, through any database opened in this
 * process.
 */
export function watchDialects(): void {
  for (const dialect of builtInDialects) watchDialect(dialect)
}

/** Returns and clears the recorded statements. */
export function takeSent(): Record<string, string[]> {
  const taken = Object.fromEntries(
    [...testsByStatement].map(([shape, tests]) => [shape, [...tests]]),
  )
  testsByStatement.clear()
  return taken
}

function watchDialect(dialect: { -readonly [Key in keyof Dialect]: Dialect[Key] }): void {
  const { open } = dialect
  dialect.open = async (url, options) => {
    const engine = await open.call(dialect, url, options)
    // Statements that fill a template are sent on every database, by any test that comes first.
    if (isTemplate(url)) return engine
    const watched = watchRunner(engine)
    return { ...watched, reserve: async () => watchRunner(await engine.reserve()) }
  }
}

function watchRunner<R extends Runner>(runner: R): R {
  return {
    ...runner,
    run(query, values) {
      if (CHANGES_OR_READS.test(query.sql)) recordStatement(normalizeStatement(query.sql))
      return runner.run(query, values)
    },
  }
}

function recordStatement(shape: string): void {
  const test = expect.getState().currentTestName ?? ''
  const tests = testsByStatement.get(shape)
  if (tests?.has(test) || isSentByTest()) return
  if (tests) tests.add(test)
  else testsByStatement.set(shape, new Set([test]))
}

/**
 * Whether a test itself sends the statement, to check a result. The sender inside a transaction is
 * unknown: it is usually the product.
 */
function isSentByTest(): boolean {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 60
  const { stack = '' } = new Error('who asks')
  Error.stackTraceLimit = stackTraceLimit
  const callers = stack.split('\n').filter((line) => !TRANSPORT_FILES.test(line))
  const caller = callers.find((line) => /\/(?:src|test|test-support)\//.test(line)) ?? ''
  return /\/(?:test|testing|test-support)\//.test(caller)
}

/** Source files between the sender of a statement and the database. */
const TRANSPORT_FILES = /\/packages\/database\/src\/|\/node_modules\/|\/test-support\/statements\//

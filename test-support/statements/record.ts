import { expect } from 'vitest'
import { builtInDialects } from '../../packages/database/src/built-in-dialects.ts'
import type { Dialect } from '../../packages/database/src/dialects/dialect.ts'
import type { Runner } from '../../packages/database/src/dialects/engine.ts'
import { isTemplate } from '../create-test-database.ts'
import { shapeOf } from './shape.ts'

/** The tests in which a statement was sent, for each. */
const sent = new Map<string, Set<string>>()

const CHANGES_OR_READS = /^\s*(?:select|insert|update|delete|replace|with)\b/i

/** From now on every statement of the packages is noted, whoever opens a database in this process. */
export function watchDialects(): void {
  for (const dialect of builtInDialects) watchDialect(dialect)
}

/** What was sent since the last time. */
export function takeSent(): Record<string, string[]> {
  const taken = Object.fromEntries([...sent].map(([shape, tests]) => [shape, [...tests]]))
  sent.clear()
  return taken
}

function watchDialect(dialect: { -readonly [Key in keyof Dialect]: Dialect[Key] }): void {
  const { open } = dialect
  dialect.open = async (url, options) => {
    const engine = await open.call(dialect, url, options)
    // What fills a template is sent on every database, in whatever test comes first.
    if (isTemplate(url)) return engine
    const watched = watchRunner(engine)
    return { ...watched, reserve: async () => watchRunner(await engine.reserve()) }
  }
}

function watchRunner<R extends Runner>(runner: R): R {
  return {
    ...runner,
    run(query, values) {
      if (CHANGES_OR_READS.test(query.sql)) note(shapeOf(query.sql))
      return runner.run(query, values)
    },
  }
}

function note(shape: string): void {
  const test = expect.getState().currentTestName ?? ''
  const tests = sent.get(shape)
  if (tests?.has(test) || isOfTest()) return
  if (tests) tests.add(test)
  else sent.set(shape, new Set([test]))
}

/** Whether a test asks by itself, to see what became of it. Who asks in a transaction is not known: the product, most often. */
function isOfTest(): boolean {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 60
  const { stack = '' } = new Error('who asks')
  Error.stackTraceLimit = stackTraceLimit
  const callers = stack.split('\n').filter((line) => !BETWEEN.test(line))
  const caller = callers.find((line) => /\/(?:src|test|test-support)\//.test(line)) ?? ''
  return /\/(?:test|testing|test-support)\//.test(caller)
}

/** The packages between whoever asks and the database. */
const BETWEEN = /\/packages\/database\/src\/|\/node_modules\/|\/test-support\/statements\//

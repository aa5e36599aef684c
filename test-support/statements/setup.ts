import { mkdirSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect } from 'vitest'
import { takeSent, watchDialects } from './record.ts'

// With TEST_STATEMENTS=folder, records the statements that each test file sends to its database,
// for scripts/check-statements.mjs.
const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const WATCHED = Symbol.for('tollgate.statements')
const process_ = globalThis as { [WATCHED]?: boolean }

// This file is loaded for every test file, but the modules that it imports only once.
if (!process_[WATCHED]) watchDialects()
process_[WATCHED] = true

// Files share a process: until the first test of a file begins, the last test of the previous file
// would count as the sender.
expect.setState({ currentTestName: '' })
const began = performance.now()
afterAll(() => {
  const { TEST_STATEMENTS = '', TEST_PROJECT = '', TEST_DATABASE: database } = process.env
  const file = relative(ROOT, expect.getState().testPath ?? '')
  const folder = join(TEST_STATEMENTS, TEST_PROJECT)
  mkdirSync(folder, { recursive: true })
  const recorded = { database, file, milliseconds: performance.now() - began, sent: takeSent() }
  writeFileSync(join(folder, `${file.replaceAll('/', '+')}.json`), JSON.stringify(recorded))
})

import { mkdirSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect } from 'vitest'
import { takeSent, watchDialects } from './record.ts'

// With TEST_STATEMENTS=folder: what each test file sends to its database, for scripts/check-statements.mjs.
const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const WATCHED = Symbol.for('tollgate.statements')
const process_ = globalThis as { [WATCHED]?: boolean }

// This file is loaded for every test file; what they import, once.
if (!process_[WATCHED]) watchDialects()
process_[WATCHED] = true

// Files share a process: until its first test begins, the last test of the file before would be the one that sends.
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

import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Mode } from './row.ts'
import type { Variables } from './variables.ts'

const fileIn = (dataDir: string) => join(dataDir, 'secret')

/**
 * Returns the secret of a demo, which is created at the first start and then read from the data
 * folder.
 */
export function readOrCreateSecret(dataDir: string): string {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const file = fileIn(dataDir)
  try {
    // Two processes that start at once must agree on one secret.
    writeFileSync(file, randomBytes(32).toString('base64'), { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  return readFileSync(file, 'utf8')
}

const MAKE_ONE = 'generate your own: openssl rand -base64 32'

/**
 * Returns a sentence that explains why the configured secret is unsafe in production. `null` if it
 * is safe.
 */
export function findSecretProblem(values: Variables, mode: Mode): string | null {
  const given = values.TOLLGATE_SECRET
  if (mode !== 'production' || given === null) return null
  const file = fileIn(values.TOLLGATE_DATA_DIR)
  if (existsSync(file) && readFileSync(file, 'utf8').trim() === given.trim()) {
    return `TOLLGATE_SECRET is the demo secret in ${file}; ${MAKE_ONE}`
  }
  if (new Set(given).size < 8) {
    return `TOLLGATE_SECRET is weak: it has fewer than 8 different characters; ${MAKE_ONE}`
  }
  if (/change.?me|example|secret.?secret|demo/i.test(given)) {
    return `TOLLGATE_SECRET is weak: it looks like a placeholder; ${MAKE_ONE}`
  }
  return null
}

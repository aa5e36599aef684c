import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Mode } from './environment.ts'
import type { Variables } from './variables.ts'

const fileIn = (dataDir: string) => join(dataDir, 'secret')

/** Made once and kept: tokens and stored keys depend on it. */
export function keptSecret(dataDir: string): string {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const file = fileIn(dataDir)
  try {
    // Two that start at once must not each keep their own.
    writeFileSync(file, randomBytes(32).toString('base64'), { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  return readFileSync(file, 'utf8')
}

/** What was made for a demo, or copied from an example, protects nothing in production. */
export function isDemoSecret(values: Variables, mode: Mode): boolean {
  const given = values.TOLLGATE_SECRET
  if (mode !== 'production' || given === null) return false
  const file = fileIn(values.TOLLGATE_DATA_DIR ?? '.tollgate')
  if (existsSync(file) && readFileSync(file, 'utf8').trim() === given.trim()) return true
  return new Set(given).size < 8 || /change.?me|example|secret.?secret|demo/i.test(given)
}

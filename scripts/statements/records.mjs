import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** Records are in a folder for each project, one file for each test file: see test-support/statements/setup.ts. */

/**
 * Takes away what earlier runs of these projects have left: a test file that no longer runs in one would still count as tried there.
 * @param {string} folder
 * @param {readonly string[]} projects
 */
export function emptyRecords(folder, projects) {
  for (const project of projects) rmSync(join(folder, project), { recursive: true, force: true })
}

/**
 * What was sent to a database, whatever project the test file ran in; null when nothing was.
 * @param {string} folder
 * @param {string} database
 * @returns {import('./compare.mjs').Recorded[] | null}
 */
export function readRecords(folder, database) {
  if (folder === '' || !existsSync(folder)) return null
  const records = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.json'))
    .map((entry) => JSON.parse(readFileSync(join(entry.parentPath, entry.name), 'utf8')))
    .filter((record) => record.database === database)
  return records.length === 0 ? null : records
}

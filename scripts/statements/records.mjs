import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Each project has a folder of records, with one file for each test file: see
 * test-support/statements/setup.ts.
 */

/**
 * Deletes the records of earlier runs of these projects. Otherwise a test file that no longer runs
 * in a project would still count as tried there.
 * @param {string} folder
 * @param {readonly string[]} projects
 */
export function emptyRecords(folder, projects) {
  for (const project of projects) rmSync(join(folder, project), { recursive: true, force: true })
}

/**
 * Reads the statements sent to a database in any project. `null` if there are none.
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

import { chmodSync, mkdirSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startPostgres } from './postgres.mjs'

/**
 * Creates a new database for each server. The default folder is beside the code: a temporary folder
 * may be in memory, where a durable write costs nothing.
 * @param {string} [results]
 */
export function openDatabases(results = fileURLToPath(new URL('./results', import.meta.url))) {
  mkdirSync(results, { recursive: true })
  const folder = mkdtempSync(join(results, 'data-'))
  // If the benchmark runs as root, Postgres runs as another user.
  chmodSync(folder, 0o755)
  const remove = () => rmSync(folder, { recursive: true, force: true })
  process.once('exit', remove)
  let postgres = null
  let files = 0
  return {
    /** Folder of the databases, for the report. */
    place: { folder: results, inMemory: isInMemory(folder) },
    /** @param {'memory' | 'postgres' | 'sqlite'} store */
    async create(store) {
      if (store === 'memory') return null
      if (store === 'sqlite') return `file:${join(folder, `${files++}.db`)}`
      postgres ??= startPostgres(folder)
      return (await postgres).createDatabase()
    },
    async close() {
      await (await postgres)?.stop()
      remove()
    },
  }
}

const TMPFS = 0x01021994
const RAMFS = 0x858458f6

/** Whether a folder is in memory, where `fsync` costs nothing. Told on Linux only. */
function isInMemory(folder) {
  return [TMPFS, RAMFS].includes(statfsSync(folder).type)
}

import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startPostgres } from './postgres.mjs'

/**
 * A new database for each server, in a folder beside the code unless another is named: a temporary folder may be
 * in memory, where a durable write costs nothing.
 * @param {string} [results]
 */
export function openDatabases(results = fileURLToPath(new URL('./results', import.meta.url))) {
  mkdirSync(results, { recursive: true })
  const folder = mkdtempSync(join(results, 'data-'))
  // Postgres runs as a user of its own when the benchmark runs as root.
  chmodSync(folder, 0o755)
  const remove = () => rmSync(folder, { recursive: true, force: true })
  process.once('exit', remove)
  let postgres = null
  let files = 0
  return {
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

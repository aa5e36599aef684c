import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { findFreePort } from './free-port.ts'

export interface PgBouncer {
  /** The given URL, routed through PgBouncer. */
  readonly url: string
  stop(): Promise<void>
}

const PROGRAM = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer', '/usr/local/bin/pgbouncer']
const NOBODY = 65534

/** Finds the installed PgBouncer and its version, e.g. `1.18.0`. `null` if there is none. */
export function findPgBouncer(): { readonly program: string; readonly version: string } | null {
  for (const program of PROGRAM) {
    const { stdout } = spawnSync(program, ['--version'], { encoding: 'utf8' })
    const version = /PgBouncer ([\d.]+)/.exec(stdout ?? '')?.[1]
    if (version) return { program, version }
  }
  return null
}

/** Starts a PgBouncer between a client and the server of `url`. */
export async function startPgBouncer(
  program: string,
  url: string,
  mode: 'session' | 'transaction',
  settings: Readonly<Record<string, string | number>> = {},
): Promise<PgBouncer> {
  const target = new URL(url)
  const port = await findFreePort()
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-pgbouncer-'))
  chmodSync(folder, 0o755)
  const file = join(folder, 'pgbouncer.ini')
  const options = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    auth_type: 'any',
    unix_socket_dir: '',
    pool_mode: mode,
    max_client_conn: 200,
    default_pool_size: 20,
    ...settings,
  }
  const lines = Object.entries(options).map(([name, value]) => `${name} = ${value}`)
  const database = `* = host=${target.hostname} port=${target.port} user=${target.username}`
  writeFileSync(file, `[databases]\n${database}\n[pgbouncer]\n${lines.join('\n')}\n`)
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}
  const child = spawn(program, [file], { ...user, stdio: ['ignore', 'ignore', 'pipe'] })
  let log = ''
  child.stderr?.on('data', (chunk) => {
    log += chunk
  })
  await untilListening(port, child, () => log)
  const through = new URL(url)
  through.hostname = '127.0.0.1'
  through.port = String(port)
  return {
    url: through.href,
    async stop() {
      const ended = new Promise((resolve) => child.once('exit', resolve))
      if (child.exitCode === null && child.kill('SIGTERM')) await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function untilListening(port: number, child: ChildProcess, log: () => string) {
  while (child.exitCode === null) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true))
      socket.on('error', () => resolve(false))
      socket.on('connect', () => socket.destroy())
    })
    if (isOpen) return
    await sleep(50)
  }
  throw new Error(`PgBouncer ended: ${log()}`)
}

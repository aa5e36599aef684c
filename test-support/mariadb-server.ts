import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import mysql from 'mysql2/promise'
import { findFastFolder } from './fast-folder.ts'
import { findFreePort } from './free-port.ts'

export interface MariadbServer {
  /** URL that connects as root to the database `test`, which is empty at first. */
  readonly url: string
  /** Runs one statement as root. */
  ask(sql: string): Promise<mysql.RowDataPacket[]>
  /** Shuts the server down and keeps its data. */
  stop(): Promise<void>
  /** Starts the server again on the same port. */
  start(): Promise<void>
  /** Stops the server and deletes its data. */
  remove(): Promise<void>
}

const PROGRAM = ['mariadbd', '/usr/sbin/mariadbd', '/usr/local/sbin/mariadbd']

/** Finds the installed server program. `null` if there is none. */
export function findMariadb(): string | null {
  const works = (program: string) => spawnSync(program, ['--version']).status === 0
  return PROGRAM.find(works) ?? null
}

/**
 * Starts a MariaDB server for one test, which may change its settings; the server of TEST_MYSQL_URL
 * is shared. `settings` are options of the server, such as `max-connections=10`.
 */
export async function startMariadbServer(
  program: string,
  settings: readonly string[] = [],
): Promise<MariadbServer> {
  const folder = mkdtempSync(join(findFastFolder(), 'tollgate-mariadb-'))
  // mariadbd refuses to run as root. The Debian package creates this user.
  const user = process.getuid?.() === 0 ? ['--user=mysql'] : []
  if (user.length > 0) spawnSync('chown', ['mysql', folder])
  const data = `--datadir=${join(folder, 'data')}`
  const options = [
    ...['innodb-flush-method=nosync', 'innodb-flush-log-at-trx-commit=0', 'innodb-doublewrite=0'],
    ...['innodb-stats-persistent=0', 'innodb-buffer-pool-size=32M', 'innodb-log-file-size=8M'],
    ...settings,
  ].map((setting) => `--${setting}`)
  const innodb = options.filter((option) => option.startsWith('--innodb-'))
  const installed = spawnSync(
    'mariadb-install-db',
    [
      '--no-defaults',
      ...user,
      data,
      '--auth-root-authentication-method=normal',
      '--skip-test-db',
      '--skip-name-resolve',
      ...innodb,
    ],
    { encoding: 'utf8' },
  )
  if (installed.status !== 0) {
    rmSync(folder, { recursive: true, force: true })
    throw new Error(`mariadb-install-db failed: ${installed.error ?? installed.stderr}`)
  }
  const port = await findFreePort()
  const address = { host: '127.0.0.1', port, user: 'root' }
  let server: ChildProcess | undefined

  async function start(): Promise<void> {
    let log = ''
    const child = spawn(
      program,
      [
        '--no-defaults',
        ...user,
        data,
        `--socket=${join(folder, 'socket')}`,
        `--pid-file=${join(folder, 'pid')}`,
        '--bind-address=127.0.0.1',
        `--port=${port}`,
        '--skip-name-resolve',
        ...options,
      ],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    )
    child.stderr?.on('data', (chunk) => {
      if (log.length < 100_000) log += chunk
    })
    server = child
    while (!(await answers())) {
      if (child.exitCode !== null) throw new Error(`MariaDB ended with ${child.exitCode}: ${log}`)
      await sleep(50)
    }
  }

  const answers = () =>
    mysql.createConnection(address).then(
      (connection) => connection.end().then(() => true),
      () => false,
    )

  async function ask(sql: string): Promise<mysql.RowDataPacket[]> {
    const connection = await mysql.createConnection({ ...address, multipleStatements: true })
    try {
      const [rows] = await connection.query<mysql.RowDataPacket[]>(sql)
      return rows
    } finally {
      await connection.end().catch(() => {})
    }
  }

  async function stop(): Promise<void> {
    const child = server
    server = undefined
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGTERM')
    await ended
  }

  /** Kills the server if the process exits without cleaning up, e.g. after Ctrl-C. */
  function abandon(): void {
    server?.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
  process.once('exit', abandon)

  await start()
  await ask('create database test')
  return {
    url: `mysql://root@127.0.0.1:${port}/test`,
    ask,
    start,
    stop,
    async remove() {
      process.off('exit', abandon)
      await stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export interface MariadbReplication {
  readonly primary: MariadbServer
  /** Accepts writes, which is MariaDB's default. */
  readonly replica: MariadbServer
  /** Resolves when the replica has applied everything that the primary has committed so far. */
  catchUp(): Promise<void>
  /** Pauses replication: from now on the replica lags behind. */
  pause(): Promise<void>
  resume(): Promise<void>
  remove(): Promise<void>
}

/** Starts two servers, one of which follows the other by asynchronous replication. */
export async function startMariadbReplication(program: string): Promise<MariadbReplication> {
  const [primary, replica] = await Promise.all(
    [1, 2].map((id) => startMariadbServer(program, [`server-id=${id}`, 'log-bin=binlog'])),
  )
  if (!primary || !replica) throw new Error('There are not two servers')
  // The replica repeats everything that the primary has created.
  await replica.ask('drop database test; reset master')
  await replica.ask(`change master to master_host = '127.0.0.1', master_port = ${portOf(primary)},
    master_user = 'root', master_use_gtid = slave_pos, master_connect_retry = 1; start slave`)
  return {
    primary,
    replica,
    async catchUp() {
      const [row] = await primary.ask('select @@global.gtid_binlog_pos as position')
      const [reached] = await replica.ask(`select master_gtid_wait('${row?.position}', 20) as code`)
      if (reached?.code !== 0) throw new Error('The replica does not catch up')
    },
    pause: async () => void (await replica.ask('stop slave sql_thread')),
    resume: async () => void (await replica.ask('start slave sql_thread')),
    async remove() {
      await replica.remove()
      await primary.remove()
    },
  }
}

const portOf = ({ url }: MariadbServer) => new URL(url).port

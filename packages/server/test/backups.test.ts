import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { connect } from '@tollgate/database'
import { startSandbox } from '@tollgate/sandbox'
import pg from 'pg'
import { afterEach, describe, expect, it } from 'vitest'
import { findFreePort } from '../../../test-support/free-port.ts'
import { findMariadb, startMariadbServer } from '../../../test-support/mariadb-server.ts'
import { codeBlocks, readPage } from '../../../test-support/markdown.ts'
import { startPostgresServer } from '../../../test-support/postgres-server.ts'

// Built by `npm test` before the tests run.
const program = fileURLToPath(new URL('../bin/tollgate.js', import.meta.url))
const blocks = codeBlocks(readPage('docs/guides/backups.md'))
const PERSON = { email: 'ada@example.com', password: 'correct horse' }

/** A machine on which the guide's commands run, with temporary folders instead of those of the system. */
interface Machine {
  readonly folder: string
  /** Replaces the names in the guide's commands. */
  readonly names: readonly (readonly [string, string])[]
  readonly environment: Readonly<Record<string, string>>
}

interface Kind {
  readonly name: string
  /** Program that makes the backup. Without it, the test is left out. */
  readonly dumps: string
  readonly missing?: boolean
  /** Creates an empty database named `tollgate`. */
  create(folder: string): Promise<{
    readonly url: string
    /** Environment variables that the commands of the guide need. */
    readonly environment?: Readonly<Record<string, string>>
    remove?(): Promise<void>
  }>
}

const sqlite: Kind = {
  name: 'sqlite',
  dumps: 'sqlite3',
  create: async (folder) => ({ url: `sqlite:${folder}/data/tollgate.db` }),
}

/** Folder of a server of the same version as `pg_dump`, which refuses to copy newer servers. */
const postgresFolder = spawnSync('pg_config', ['--bindir'], { encoding: 'utf8' }).stdout?.trim()

const postgres: Kind = {
  name: 'postgres',
  dumps: 'pg_dump',
  missing: !postgresFolder || !isInstalled(join(postgresFolder, 'initdb')),
  async create() {
    const { url, remove } = await startPostgresServer([], dirname(postgresFolder ?? ''))
    const { hostname: PGHOST, port: PGPORT, username: PGUSER } = new URL(url)
    const client = new pg.Client(url)
    await client.connect()
    await client.query('create role tollgate login')
    await client.query('create database tollgate owner tollgate')
    await client.end()
    return {
      url: `postgres://tollgate@${PGHOST}:${PGPORT}/tollgate`,
      environment: { PGHOST, PGPORT, PGUSER },
      remove,
    }
  },
}

const mariadbServer = findMariadb()

const mariadb: Kind = {
  name: 'mariadb',
  dumps: 'mariadb-dump',
  missing: mariadbServer === null,
  async create(folder) {
    const server = await startMariadbServer(mariadbServer ?? '')
    await server.ask('create database tollgate')
    const { hostname, port, username } = new URL(server.url)
    const options = `[client]\nprotocol=tcp\nhost=${hostname}\nport=${port}\nuser=${username}\n`
    writeFileSync(join(folder, 'mariadb.cnf'), options)
    return { url: server.url.replace(/test$/, 'tollgate'), remove: () => server.remove() }
  },
}

function isInstalled(command: string): boolean {
  return spawnSync(command, ['--version']).status === 0
}

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean()
})

/** Prepares a machine as the guide expects it: folders, settings, and `tollgate` in the path. */
async function prepare(kind: Kind): Promise<Machine> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-backups-'))
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }))
  for (const name of ['bin', 'data', 'backups']) mkdirSync(join(folder, name), { mode: 0o700 })
  const { url, environment = {}, remove } = await kind.create(folder)
  if (remove) cleanups.push(remove)
  const sandbox = await startSandbox({ stripe: true })
  cleanups.push(() => sandbox.close())
  const command = join(folder, 'bin', 'tollgate')
  writeFileSync(command, `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`)
  chmodSync(command, 0o755)
  const port = await findFreePort()
  return {
    folder,
    names: [
      ['/var/lib/tollgate', join(folder, 'data')],
      ['/var/backups/tollgate', join(folder, 'backups')],
      ['/etc/tollgate', folder],
      ['2026-05-01T10:00:00Z', new Date(Date.now() - 60_000).toISOString()],
    ],
    environment: {
      ...environment,
      PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
      NODE_ENV: 'production',
      HOST: '127.0.0.1',
      PORT: String(port),
      DATABASE_URL: url,
      TOLLGATE_URL: `http://localhost:${port}`,
      TOLLGATE_SECRET: 'kS9x1QfVbT7mZp3Lr8Wc2Yh5Ng0Ju4Da',
      TOLLGATE_DRAIN_SECONDS: '0',
      STRIPE_SECRET: sandbox.stripe.apiKey,
      STRIPE_WEBHOOK_SECRET: 'whsec_1',
      STRIPE_API_URL: sandbox.stripe.url,
    },
  }
}

/** The service, which a real machine would start and stop by systemd. */
function createUnit({ folder, environment }: Machine) {
  let child: ChildProcess | undefined
  async function start(): Promise<void> {
    let output = ''
    child = spawn('tollgate', ['serve'], { cwd: folder, env: environment })
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk) => {
        output += chunk
      })
    }
    const started = child
    const status = async () => {
      if (started.exitCode !== null) throw new Error(`The service ended: ${output}`)
      return fetch(`http://127.0.0.1:${environment.PORT}/readyz`).then(
        (response) => response.status,
        () => 0,
      )
    }
    await expect.poll(status).toBe(200)
  }
  async function stop(): Promise<void> {
    const running = child
    child = undefined
    if (!running || running.exitCode !== null) return
    const ended = new Promise((resolve) => running.once('close', resolve))
    running.kill('SIGTERM')
    await ended
  }
  cleanups.push(stop)
  return { start, stop }
}

/** Runs the guide's commands of one task for one database, line by line. */
async function follow(
  task: string,
  kind: Kind,
  machine: Machine,
  unit: ReturnType<typeof createUnit>,
): Promise<string[]> {
  const wanted = [`sh ${task}`, `sh ${task} ${kind.name}`]
  const lines = blocks
    .filter(({ info }) => wanted.includes(info))
    .flatMap(({ code }) => code.split('\n'))
  for (const line of lines) {
    if (line === 'systemctl stop tollgate') await unit.stop()
    else if (line === 'systemctl start tollgate') await unit.start()
    else await runInShell(line, machine)
  }
  return lines
}

function runInShell(line: string, { names, environment, folder }: Machine): Promise<string> {
  const command = names.reduce((text, [from, to]) => text.replaceAll(from, to), line)
  return new Promise((resolve, reject) => {
    const child = spawn('sh', ['-e', '-c', command], { cwd: folder, env: environment })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        output += chunk
      })
    }
    child.once('close', (code) => {
      if (code === 0) resolve(output)
      else reject(new Error(`${command} ended with ${code}: ${output}`))
    })
  })
}

/** Creates a table, as the migration of a newer version would. Fails if it exists. */
async function createLaterTable({ environment }: Machine): Promise<void> {
  const database = await connect(environment.DATABASE_URL)
  try {
    await database.kysely.schema.createTable('later').addColumn('id', 'integer').execute()
  } finally {
    await database.close()
  }
}

/** An application that gets, uses and revokes tokens of the service. */
function createApplication({ environment }: Machine, client: { id: string; secret: string }) {
  const { TOLLGATE_URL: url } = environment
  const post = (path: string, form: Record<string, string>) =>
    fetch(`${url}${path}`, {
      method: 'POST',
      body: new URLSearchParams({ client_id: client.id, client_secret: client.secret, ...form }),
    })
  return {
    async getToken() {
      const { email: username, password } = PERSON
      const response = await post('/oauth/token', { grant_type: 'password', username, password })
      expect(response.status).toBe(200)
      return ((await response.json()) as { access_token: string }).access_token
    },
    async revoke(token: string) {
      expect((await post('/oauth/revoke', { token })).status).toBe(200)
    },
    async use(token: string) {
      const headers = { authorization: `Bearer ${token}` }
      return (await fetch(`${url}/api/user`, { headers })).status
    },
  }
}

describe.each([sqlite, postgres, mariadb])('the guide about backups, on $name', (kind) => {
  const isLeftOut = kind.missing || !isInstalled(kind.dumps)
  if (isLeftOut)
    console.log(`The backup of ${kind.name} is left out: install ${kind.dumps} and its server`)

  it.skipIf(isLeftOut)(
    'restores accounts and applications without anything written later, and revokes every token',
    async () => {
      const machine = await prepare(kind)
      const tollgate = async (command: string) =>
        JSON.parse(await runInShell(`tollgate ${command} --json`, machine))
      const unit = createUnit(machine)
      await unit.start()
      const { email, password } = PERSON
      await tollgate(`user create --email ${email} --password '${password}'`)
      const client = await tollgate('client create --name Shop --password')
      const application = createApplication(machine, client)
      const kept = await application.getToken()
      const revoked = await application.getToken()
      expect(await follow('backup', kind, machine, unit)).toHaveLength(2)

      await createLaterTable(machine)
      await application.revoke(revoked)
      await tollgate(`user create --email late@example.com --password '${password}'`)
      expect(await application.use(kept)).toBe(200)
      await follow('restore', kind, machine, unit)

      await expect(createLaterTable(machine)).resolves.toBeUndefined()
      expect(await application.use(kept)).toBe(401)
      expect(await application.use(revoked)).toBe(401)
      const people: { email: string }[] = await tollgate('user list')
      expect(people.map((person) => person.email)).toEqual([email])
      expect(await application.use(await application.getToken())).toBe(200)
    },
  )
})

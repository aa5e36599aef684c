import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import {
  createTestDatabase,
  type TestDatabase,
} from '../../../test-support/create-test-database.ts'
import { findFreePort } from '../../../test-support/free-port.ts'
import { type Program, runProgram, startProgram } from './built-program.ts'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-workers-'))
const settings = join(folder, 'tollgate.config.mjs')
const started: Program[] = []
const onSqlite = process.env.TEST_DATABASE === 'sqlite'
let test: TestDatabase
let environment: Record<string, string>

beforeAll(async () => {
  test = await createTestDatabase()
  environment = {
    PATH: process.env.PATH ?? '',
    HOST: '127.0.0.1',
    DATABASE_URL: test.url,
    TOLLGATE_CONFIG: settings,
    TOLLGATE_SECRET: 'kS9x1QfVbT7mZp3Lr8Wc2Yh5Ng0Ju4Da',
    TOLLGATE_URL: 'http://localhost:1',
    TOLLGATE_DRAIN_SECONDS: '3',
    STRIPE_SECRET: 'sk_test_1',
    STRIPE_WEBHOOK_SECRET: 'whsec_1',
  }
  configure("{ name: 'Before' }")
})
afterAll(async () => {
  for (const { child } of started) child.kill('SIGKILL')
  await test.drop()
  rmSync(folder, { recursive: true, force: true })
})

const configure = (text: string) => writeFileSync(settings, `export default ${text}\n`)

interface Line {
  readonly msg: string
  readonly worker?: number
  readonly workers?: unknown
  readonly pid?: number
  readonly path?: string
  readonly reason?: string
}

/** The service with its workers, as one process of the operating system starts them. */
interface Served extends Program {
  readonly url: string
  /** Returns the lines of the log with this message. */
  lines(msg: string): Line[]
  /** Ends a worker as the kernel would, or sends it another signal. */
  kill(worker: number, signal?: NodeJS.Signals): void
  newestWorkers(): number[]
}

function start(more: Record<string, string> = {}, args: string[] = []): Promise<Served> {
  return findFreePort().then((port) => {
    const program = startProgram(['serve', ...args], {
      ...environment,
      PORT: String(port),
      TOLLGATE_WORKERS: '2',
      ...more,
    })
    started.push(program)
    const lines = (msg: string): Line[] =>
      program
        .output()
        .split('\n')
        .filter((line) => line.startsWith('{') && line.endsWith('}'))
        .map((line) => JSON.parse(line) as Line)
        .filter((line) => line.msg === msg)
    const ready = () => lines('ready').filter(({ worker }) => worker !== undefined)
    return {
      ...program,
      url: `http://127.0.0.1:${port}`,
      lines,
      kill(worker, signal = 'SIGKILL') {
        const { pid = 0 } = ready().find((line) => line.worker === worker) ?? {}
        process.kill(pid, signal)
      },
      newestWorkers: () => ready().map(({ worker = 0 }) => worker),
    }
  })
}

async function untilReady(served: Served): Promise<void> {
  const isReady = () => {
    if (served.child.exitCode !== null) throw new Error(`It ended: ${served.output()}`)
    return served.lines('ready').some(({ workers }) => workers === 2)
  }
  await expect.poll(isReady, { interval: 100, timeout: 150_000 }).toBe(true)
}

/** Waits until the given workers, by their numbers, serve requests. */
const untilServed = (served: Served, ...workers: number[]) =>
  expect.poll(served.newestWorkers).toEqual(expect.arrayContaining(workers))

interface Client {
  readonly id: string
  readonly secret: string
}

/** Requests of one connection after the other, or of a new connection each, until it is stopped. */
interface Load {
  /** How many requests got each answer: a status, or the code of an error. */
  answers(): ReadonlyMap<string, number>
  /** The connections that broke, by number. */
  readonly broken: number[]
  stop(): Promise<void>
}

const KEPT = 8
const CONNECTIONS = 10

/**
 * Sends requests on connections that stay open, and on two that are new for each request: in turn
 * for a path that names the connection, and for a token.
 */
function load({ url }: Served, client: Client): Load {
  const counts = new Map<string, number>()
  const broken: number[] = []
  let isSending = true
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: client.id,
    client_secret: client.secret,
  }).toString()
  const send = (agent: Agent, path: string) =>
    new Promise<string>((resolve) => {
      const isToken = path === '/oauth/token'
      const headers = isToken ? { 'content-type': 'application/x-www-form-urlencoded' } : {}
      const sent = request(`${url}${path}`, { agent, headers, method: isToken ? 'POST' : 'GET' })
      sent.on('response', (response) => {
        response.resume()
        response.once('end', () => resolve(String(response.statusCode)))
        response.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'error'))
      })
      sent.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'error'))
      sent.end(isToken ? form : undefined)
    })
  const drive = async (connection: number) => {
    const agent = new Agent({ keepAlive: connection < KEPT, maxSockets: 1 })
    for (let turn = 0; isSending; turn++) {
      const answer = await send(agent, turn % 2 === 0 ? `/load/${connection}` : '/oauth/token')
      counts.set(answer, (counts.get(answer) ?? 0) + 1)
      if (!/^\d+$/.test(answer)) broken.push(connection)
      // Leaves the processor to a worker that is starting.
      await sleep(10)
    }
    agent.destroy()
  }
  const drivers = Array.from({ length: CONNECTIONS }, (_, connection) => drive(connection))
  return {
    answers: () => counts,
    broken,
    async stop() {
      isSending = false
      await Promise.all(drivers)
    },
  }
}

/** The answers to a load without any failure: tokens, and "not found" for the paths. */
const ONLY_ANSWERED = ['200', '404']

const requests = (running: Load) =>
  [...running.answers().values()].reduce((sum, count) => sum + count, 0)

/** Waits until so many further requests were answered. */
async function untilAnswered(running: Load, more: number): Promise<void> {
  const before = requests(running)
  await expect.poll(() => requests(running)).toBeGreaterThan(before + more)
}

async function readMetrics({ url }: Served) {
  const response = await fetch(`${url}/metrics`, { headers: { connection: 'close' } })
  expect(response.status).toBe(200)
  const text = await response.text()
  return (name: string) =>
    text
      .split('\n')
      .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
      .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}

const nameOnPages = async ({ url }: Served) => {
  const page = await fetch(`${url}/login`, { headers: { connection: 'close' } })
  return /<title>.*?(Before|After)/s.exec(await page.text())?.[1]
}

describe('two workers that share a port', () => {
  let served: Served
  let client: Client
  async function issue(count: number): Promise<void> {
    for (let turn = 0; turn < count; turn++) {
      const response = await fetch(`${served.url}/oauth/token`, {
        method: 'POST',
        headers: { connection: 'close' },
        body: new URLSearchParams({
          grant_type: 'client_credentials',
          client_id: client.id,
          client_secret: client.secret,
        }),
      })
      expect(response.status).toBe(200)
    }
  }

  it('both answer, and put their numbers into the log', async () => {
    served = await start()
    await untilReady(served)
    const args = ['client', 'create', '--name', 'Own', '--credentials', '--json']
    client = JSON.parse(await runProgram(args, environment))
    await issue(10)
    await expect.poll(() => served.lines('request').length).toBeGreaterThanOrEqual(10)
    expect(new Set(served.lines('request').map(({ worker }) => worker))).toEqual(new Set([1, 2]))
  })

  it('count together at /metrics, and keep the counts of a killed worker', async () => {
    const before = await readMetrics(served)
    expect(before('tollgate_tokens_issued_total')).toBe(10)
    expect(before('tollgate_workers')).toBe(2)
    await issue(5)
    expect((await readMetrics(served))('tollgate_tokens_issued_total')).toBe(15)

    served.kill(1)
    await untilServed(served, 3)
    const after = await readMetrics(served)
    expect(after('tollgate_tokens_issued_total')).toBe(15)
    expect(after('tollgate_worker_crashes_total')).toBe(1)
    expect(after('tollgate_workers')).toBe(2)
    expect(after('tollgate_request_duration_seconds_count')).toBeGreaterThanOrEqual(15)
    await issue(5)
    expect((await readMetrics(served))('tollgate_tokens_issued_total')).toBe(20)
  })

  it('lose only the connections of a worker that is killed under load (threat F1)', async () => {
    const running = load(served, client)
    await untilAnswered(running, 100)
    served.kill(2)
    await untilServed(served, 4)
    await untilAnswered(running, 100)
    await running.stop()
    const ofKilled = served
      .lines('request')
      .filter(({ worker, path = '' }) => worker === 2 && path.startsWith('/load/'))
      .map(({ path = '' }) => Number(path.slice('/load/'.length)))
    // Each connection broke at most once, and belonged to the killed worker.
    expect(new Set(running.broken).size).toBe(running.broken.length)
    expect(running.broken.filter((connection) => !ofKilled.includes(connection))).toEqual([])
    const statuses = [...running.answers().keys()].filter((answer) => /^\d+$/.test(answer))
    expect(statuses.sort()).toEqual(ONLY_ANSWERED)
  })

  it('are replaced on SIGHUP by workers with the changed configuration, and no request fails', async () => {
    expect(await nameOnPages(served)).toBe('Before')
    const running = load(served, client)
    await untilAnswered(running, 100)
    configure("{ name: 'After' }")
    served.child.kill('SIGHUP')
    await expect.poll(() => served.lines('reloaded')).toHaveLength(1)
    await untilAnswered(running, 100)
    const ended = () => served.lines('A worker has ended').map(({ worker }) => worker)
    await expect.poll(() => ended().sort()).toEqual([3, 4])
    await running.stop()
    expect([...running.answers().keys()].sort()).toEqual(ONLY_ANSWERED)
    expect(await nameOnPages(served)).toBe('After')
  })

  it('stay on SIGHUP if the new configuration is broken, and the log says why', async () => {
    const running = load(served, client)
    configure("{ naem: 'Broken' }")
    served.child.kill('SIGHUP')
    const failed = 'The reload failed: the running workers continue as before'
    await expect.poll(() => served.lines(failed)).toHaveLength(1)
    expect(served.lines(failed)[0]?.reason).toContain('naem: there is no such setting')
    await untilAnswered(running, 100)
    await running.stop()
    expect([...running.answers().keys()].sort()).toEqual(ONLY_ANSWERED)
    expect(await nameOnPages(served)).toBe('After')
    configure("{ name: 'After' }")
  })

  it('serve every request during the drain after SIGTERM, and exit with 0', async () => {
    const running = load(served, client)
    await untilAnswered(running, 100)
    served.child.kill('SIGTERM')
    const readiness = () => fetch(`${served.url}/readyz`).then(({ status }) => status)
    await expect.poll(readiness, { interval: 50 }).toBe(503)
    await running.stop()
    expect([...running.answers().keys()].sort()).toEqual(ONLY_ANSWERED)
    expect(await served.ended).toBe(0)
  })
})

describe.runIf(onSqlite)('workers that cannot start, on any database,', () => {
  it('end the command with the error of the first one', async () => {
    const away = await start({
      DATABASE_URL: 'postgres://nobody@127.0.0.1:9/none',
      TOLLGATE_DATABASE_WAIT_SECONDS: '0',
    })
    expect(await away.ended).toBe(1)
    expect(away.output()).toContain('Cannot open the database')
    expect(away.output()).toContain('Check DATABASE_URL')
  })

  it('end the command with the number of the port that is taken', async () => {
    const first = await start({}, ['--workers', '1'])
    await expect.poll(() => first.lines('ready')).toHaveLength(2)
    const { port } = new URL(first.url)
    const second = await start({ PORT: port })
    expect(await second.ended).toBe(1)
    expect(second.output()).toContain(`Port ${port} is taken`)
    first.child.kill('SIGTERM')
    expect(await first.ended).toBe(0)
  })

  it('end the service after several attempts if none serves requests, with the reason', async () => {
    const served = await start()
    await untilReady(served)
    configure("{ naem: 'Broken' }")
    served.kill(1)
    await expect.poll(() => served.lines('A worker cannot start')).toHaveLength(1)
    expect((await fetch(`${served.url}/healthz`)).status).toBe(200)
    served.kill(2)
    expect(await served.ended).toBe(2)
    expect(served.output()).toContain('No worker can be started: the service ends')
    expect(served.output()).toContain('naem: there is no such setting')
    configure("{ name: 'Before' }")
  })
})

it.runIf(onSqlite).each(['', '2'])(
  'the service ends on SIGTERM while it waits for the database, with TOLLGATE_WORKERS=%j',
  async (workers) => {
    const away = createServer()
    await new Promise<void>((resolve) => away.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void away.close())
    const { port } = away.address() as AddressInfo
    const served = await start({
      DATABASE_URL: `postgres://nobody@127.0.0.1:${port}/none`,
      TOLLGATE_WORKERS: workers,
    })
    await expect.poll(() => served.lines('Waiting for the database').length).toBeGreaterThan(0)
    served.child.kill('SIGTERM')
    // 128 and the number of the signal. The first process of a container has no default handler.
    expect(await served.ended).toBe(143)
  },
)

it.runIf(onSqlite)(
  'a worker that is blocked is killed and replaced, while the other one serves requests',
  async () => {
    const served = await start()
    await untilReady(served)
    served.kill(1, 'SIGSTOP')
    const killed = () => served.lines('A worker does not respond and is killed')
    await expect.poll(() => killed().map(({ worker }) => worker)).toEqual([1])
    await untilServed(served, 3)
    expect((await fetch(`${served.url}/healthz`)).status).toBe(200)
    served.child.kill('SIGTERM')
    expect(await served.ended).toBe(0)
  },
)

it.runIf(onSqlite)(
  'workers end when the main process is killed, so that the port is free again',
  async () => {
    const served = await start()
    await untilReady(served)
    served.child.kill('SIGKILL')
    await expect
      .poll(() =>
        fetch(served.url).then(
          () => 'served',
          () => 'free',
        ),
      )
      .toBe('free')
  },
)

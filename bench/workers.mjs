/**
 * `npm run bench:workers [-- --workers 1,2 --seconds 1 --rounds 5 --stores sqlite,postgres]`:
 * measures the service with several numbers of workers on the same database, in turn: tokens,
 * introspections and pages per second. The load needs a core of its own.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { formatRequest } from './connection.mjs'
import { openDatabases } from './databases.mjs'
import { formatTable } from './format-table.mjs'
import { runOnce, runRound } from './load.mjs'
import { median } from './measure.mjs'

const { values } = parseArgs({
  options: {
    workers: { type: 'string', default: '1,2' },
    seconds: { type: 'string', default: '1' },
    rounds: { type: 'string', default: '5' },
    stores: { type: 'string', default: 'sqlite,postgres' },
  },
})
const counts = values.workers.split(',').map(Number)
const seconds = Number(values.seconds)
const CONNECTIONS = 32
const program = fileURLToPath(new URL('../packages/server/dist/main.js', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'tollgate-bench-'))

const cores = availableParallelism()
if (cores <= Math.max(...counts)) {
  console.error(
    `This machine has ${cores} cores, which the workers share with the load and the database.`,
  )
}
const databases = openDatabases()
const rows = []
for (const store of values.stores.split(',')) rows.push(...(await measureStore(store)))
await databases.close()
rmSync(folder, { recursive: true })
console.log(formatTable(['work', ...counts.map(describe), ...ratios()], rows))
process.exit()

function describe(count) {
  return `${count} ${count === 1 ? 'worker' : 'workers'} /s`
}

function ratios() {
  return counts.slice(1).map((count) => `${count}/${counts[0]}`)
}

async function measureStore(store) {
  const environment = {
    PATH: process.env.PATH,
    HOST: '127.0.0.1',
    PORT: '0',
    NODE_ENV: 'production',
    DATABASE_URL: (await databases.create(store)).replace(/^file:/, 'sqlite:'),
    TOLLGATE_DATA_DIR: folder,
    TOLLGATE_LOG_LEVEL: 'error',
    TOLLGATE_DRAIN_SECONDS: '0',
    TOLLGATE_SECRET: 'kS9x1QfVbT7mZp3Lr8Wc2Yh5Ng0Ju4Da',
    TOLLGATE_URL: 'http://localhost:1',
    STRIPE_SECRET: 'sk_test_1',
    STRIPE_WEBHOOK_SECRET: 'whsec_1',
  }
  // One after the other, because the first one creates the tables.
  const servers = []
  for (const count of counts) servers.push(await startServer(count, environment))
  const works = await listWorks(servers[0].port, environment)
  const measured = []
  for (const [name, script] of Object.entries(works)) {
    const found = await compare(servers, script)
    const speeds = servers.map((_, at) => median(found.map((round) => round[at])))
    const relative = servers
      .slice(1)
      .map((_, at) => median(found.map((round) => round[at + 1] / round[0])))
    measured.push([
      `${store}: ${name}`,
      ...speeds.map((speed) => speed.toFixed(0)),
      ...relative.map((ratio) => ratio.toFixed(2)),
    ])
    console.error(measured.at(-1).join('  '))
  }
  for (const { stop } of servers) await stop()
  return measured
}

/** Measures the servers in turn, every other round in reverse order. */
async function compare(servers, script) {
  const scripts = () => Array.from({ length: CONNECTIONS }, () => script)
  for (const { port } of servers) await runOnce({ port, scripts: scripts() })
  const rounds = []
  for (let round = 0; round < Number(values.rounds); round++) {
    const speeds = []
    const order = servers.map((server, at) => ({ server, at }))
    for (const { server, at } of round % 2 === 0 ? order : order.reverse()) {
      const measured = await runRound({
        port: server.port,
        scripts: scripts(),
        leadIn: 0.3,
        seconds,
      })
      speeds[at] = measured.perSecond
    }
    rounds.push(speeds)
  }
  return rounds
}

async function startServer(count, environment) {
  const args = [program, 'serve', '--workers', String(count), '--json']
  const child = spawn(process.execPath, args, {
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  process.once('exit', () => child.kill('SIGKILL'))
  const [line] = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    once(child, 'exit').then(() => Promise.reject(new Error(`${count} workers did not start`))),
  ])
  const stop = async () => {
    child.kill('SIGTERM')
    await once(child, 'exit')
  }
  return { port: JSON.parse(line).port, stop }
}

async function listWorks(port, environment) {
  const { id, secret } = await createClient(environment)
  const credentials = `${new URLSearchParams({ client_id: id, client_secret: secret })}`
  const form = `${credentials}&grant_type=client_credentials`
  const token = await fetch(`http://127.0.0.1:${port}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams(form),
  })
  const { access_token } = await token.json()
  const work = (request, expected) => ({
    request: () => request,
    check({ status, body }) {
      if (status === 200 && body.includes(expected)) return 1
      throw new Error(`The service answered ${status}: ${body.slice(0, 300)}`)
    },
  })
  return {
    token: work(formatRequest('POST', '/oauth/token', {}, form), '"access_token":"'),
    introspection: work(
      formatRequest('POST', '/oauth/introspect', {}, `${credentials}&token=${access_token}`),
      '"active":true',
    ),
    page: work(formatRequest('GET', '/login', { Accept: 'text/html' }), '</html>'),
  }
}

async function createClient(environment) {
  const args = ['client', 'create', '--name', 'Bench', '--credentials', '--json']
  const child = spawn(process.execPath, [program, ...args], {
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(createInterface({ input: child.stdout }), 'line')
  return JSON.parse(line)
}

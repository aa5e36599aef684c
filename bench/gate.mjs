/**
 * `npm run bench:gate [-- --calls 100000 --rounds 5 --processes 2,4,8]`: what the gate costs, beside
 * `rate-limiter-flexible` on the same Postgres, and on Redis if `redis-server` is installed. All
 * subjects of a comparison are measured in turn in each round, and compared by the processor time of
 * this process. Prints ratios, which other load on the machine affects least.
 */
import { spawn, spawnSync } from 'node:child_process'
import { createServer } from 'node:net'
import { parseArgs } from 'node:util'
import { Hono } from 'hono'
import pg from 'pg'
import { RateLimiterMemory, RateLimiterPostgres, RateLimiterRedis } from 'rate-limiter-flexible'
import { openDatabases } from './databases.mjs'
import { formatTable } from './format-table.mjs'

const { values } = parseArgs({
  options: {
    calls: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '5' },
    processes: { type: 'string', default: '2,4,8' },
    data: { type: 'string' },
  },
})
const calls = Number(values.calls)
const rounds = Number(values.rounds)
const load = (path) => import(new URL(`../packages/${path}`, import.meta.url))
const { connect } = await load('database/dist/index.js')
const { createGate, meter, plan } = await load('gate/dist/index.js')
const { forHono } = await load('gate/dist/adapters/hono.js')
const oauthLibrary = await load('oauth/dist/index.js')
const { forHono: guardForHono } = await load('oauth/dist/adapters/hono.js')
const { actingAs } = await load('oauth/dist/testing/index.js')

const subject = { type: 'user', id: '7' }
/** Calls of one sample of a subject that asks a database each time. */
const slowCalls = Math.max(50, Math.round(calls / 100))
const closing = []
const databases = openDatabases(values.data)

const url = await databases.create('postgres')
const gate = await openGate(url, 'unlimited')
await compareCalls()
await compareRequests()
await compareRecords()
await countLeases()

for (const close of closing.reverse()) await close()
await databases.close()
process.exit()

/** Opens a gate with a connection of its own, as another process has it. */
async function openGate(databaseUrl, quota, onQuery) {
  const database = await connect(databaseUrl, { timeout: 60_000, ...(onQuery && { onQuery }) })
  const opened = createGate({
    database,
    meters: { calls: meter() },
    plans: { free: plan({ quota: { calls: quota } }) },
    otherwise: 'free',
  })
  await opened.planOf(subject)
  closing.push(async () => {
    await opened.close()
    await database.close()
  })
  return opened
}

/** One decision: the gate, and `rate-limiter-flexible` in memory, on Redis and on Postgres. */
async function compareCalls() {
  const points = { points: Number.MAX_SAFE_INTEGER, duration: 86_400 }
  const memory = new RateLimiterMemory(points)
  const pool = new pg.Pool({ connectionString: url, max: 10 })
  closing.push(() => pool.end())
  const postgres = await new Promise((resolve, reject) => {
    const limiter = new RateLimiterPostgres({ ...points, storeClient: pool }, (error) =>
      error ? reject(error) : resolve(limiter),
    )
  })
  const redis = await openRedis(points)
  const measured = await measure({
    gate: [calls, () => gate.admit(subject, 'calls')],
    memory: [calls, () => memory.consume('7')],
    ...(redis && { redis: [slowCalls, () => redis.consume('7')] }),
    postgres: [slowCalls, () => postgres.consume('7')],
  })
  const ratios = Object.entries(measured).map(([name, samples]) => [
    name === 'gate' ? 'the gate, warm' : `rate-limiter-flexible, ${name}`,
    ratio(measured.gate, samples).toFixed(4),
    name === 'postgres' ? '≤ 0.1' : name === 'redis' ? '≤ 0.2' : '',
  ])
  console.log(formatTable(['one decision', 'gate / it', 'target'], ratios))
  const perSecond = 1 / median(measured.gate)
  console.log(
    `a million decisions in a loop: ${perSecond >= 1e6 ? 'less' : 'more'} than a second\n`,
  )
}

/** A guarded request in process, with and without `admit()`. */
async function compareRequests() {
  const { createAuthorizationServer, memoryStorage, clientCredentials } = oauthLibrary
  const oauth = createAuthorizationServer({
    issuer: 'http://localhost',
    secret: 'x'.repeat(32),
    storage: memoryStorage(),
    scopes: { read: 'Read' },
    grants: [clientCredentials()],
    users: { findById: async (id) => ({ id }) },
  })
  closing.push(() => oauth.close())
  const app = new Hono()
  const { auth } = guardForHono(oauth)
  const { admit } = forHono(gate)
  app.get('/guarded', auth('api'), (c) => c.text('done'))
  app.get('/admitted', auth('api'), admit('calls'), (c) => c.text('done'))
  const headers = await actingAs(oauth, { id: '7' }, ['read'])
  const get = (path) => async () => {
    const response = await app.request(path, { headers })
    if (response.status !== 200) throw new Error(`${path}: ${response.status}`)
  }
  const measured = await measure({
    guarded: [slowCalls * 5, get('/guarded')],
    admitted: [slowCalls * 5, get('/admitted')],
  })
  const share = ratio(measured.guarded, measured.admitted).toFixed(3)
  console.log(
    formatTable(
      ['request in process', 'guard / it', 'target'],
      [['guard + admit', share, '≥ 0.94 with HTTP']],
    ),
  )
}

/** `record()` beside the one statement that a counter needs at least, 32 at a time. */
async function compareRecords() {
  const pool = new pg.Pool({ connectionString: url, max: 10 })
  closing.push(() => pool.end())
  await pool.query('CREATE TABLE floor (id integer PRIMARY KEY, taken bigint)')
  await pool.query('INSERT INTO floor SELECT i, 0 FROM generate_series(0, 31) i')
  let recorded = 0
  const nextId = () => {
    recorded += 1
    return `bench-${recorded}`
  }
  const many = (work) => async () => {
    await Promise.all(Array.from({ length: 32 }, (_, at) => work(at)))
  }
  const measured = await measure({
    record: [
      Math.max(3, slowCalls / 32),
      many((at) => gate.record({ type: 'user', id: `${at}` }, 'calls', 1, { id: nextId() })),
    ],
    floor: [
      Math.max(3, slowCalls / 32),
      many((at) => pool.query('UPDATE floor SET taken = taken + 1 WHERE id = $1', [at])),
    ],
  })
  const share = ratio(measured.record, measured.floor).toFixed(2)
  console.log(formatTable(['recorded use', 'it / one UPDATE'], [['record()', share]]))
}

/** Statements that lease from a quota of 10,000 that is used up as fast as possible. */
async function countLeases() {
  const rows = []
  for (const count of values.processes.split(',').map(Number)) {
    const fresh = await databases.create('postgres')
    let leases = 0
    const onQuery = (sql) => {
      if (/^update "gate_counters" set "taken" = "taken" \+/i.test(sql)) leases += 1
    }
    const gates = []
    for (let at = 0; at < count; at += 1) gates.push(await openGate(fresh, '10000/month', onQuery))
    let admitted = 0
    await Promise.all(
      Array.from({ length: 200 }, async (_, client) => {
        while ((await gates[client % count].admit(subject, 'calls')).allowed) admitted += 1
      }),
    )
    rows.push([String(count), String(leases), String(admitted)])
  }
  console.log(formatTable(['gates', 'leases', 'admitted of 10,000'], rows))
}

/** Measures processor seconds per call: each subject in turn, every other round in reverse order. */
async function measure(subjects) {
  const names = Object.keys(subjects)
  const samples = Object.fromEntries(names.map((name) => [name, []]))
  for (let round = -1; round < rounds; round += 1) {
    for (const name of round % 2 ? names.toReversed() : names) {
      const [count, work] = subjects[name]
      const started = process.cpuUsage()
      for (let call = 0; call < count; call += 1) {
        const result = work()
        if (result instanceof Promise) await result
      }
      const { user, system } = process.cpuUsage(started)
      // The first round warms up.
      if (round >= 0) samples[name].push((user + system) / 1e6 / count)
    }
  }
  return samples
}

function median(numbers) {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)]
}

/** The median of the ratios of the rounds. */
function ratio(a, b) {
  return median(a.map((value, round) => value / b[round]))
}

/** Starts a Redis, if one is installed. */
async function openRedis(points) {
  if (spawnSync('redis-server', ['--version']).status !== 0) return null
  const { Redis } = await import('ioredis')
  const port = await new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port: free } = probe.address()
      probe.close(() => resolve(free))
    })
  })
  const options = ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
  const server = spawn('redis-server', options, { stdio: 'ignore' })
  const client = new Redis(port, '127.0.0.1')
  client.on('error', () => {})
  process.once('exit', () => server.kill())
  closing.push(() => client.disconnect())
  await client.ping()
  return new RateLimiterRedis({ ...points, storeClient: client })
}

/**
 * `npm run bench:billing [-- --seconds 3 --rounds 3 --sizes 1000,1000000 --stores
 * sqlite,postgres]`: measures storing and handling webhooks, `subscribed()`, and rendering a page
 * of PDF, with few and with many subscriptions.
 */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { nextEvent, types } from './billing-events.mjs'
import { pinLoad, serverCommand } from './cores.mjs'
import { openDatabases } from './databases.mjs'
import { formatTable } from './format-table.mjs'
import { runRound } from './load.mjs'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '3' },
    sizes: { type: 'string', default: '1000,1000000' },
    stores: { type: 'string', default: 'sqlite,postgres' },
  },
})
const seconds = Number(values.seconds)
const CONNECTIONS = 32

pinLoad()
const databases = openDatabases()
const floor = await startServer({ databaseUrl: null, subscriptions: 0 })
const rows = []
for (const store of values.stores.split(',')) {
  for (const subscriptions of values.sizes.split(',').map(Number)) {
    const databaseUrl = await databases.create(store)
    const server = await startServer({ databaseUrl, subscriptions })
    rows.push([`${store}, ${subscriptions.toLocaleString('en')}`, ...(await measure(server))])
    server.stop()
    console.error(rows.at(-1).join('  '))
  }
}
floor.stop()
await databases.close()
console.log(
  formatTable(
    [
      'subscriptions',
      'stored /s',
      '/floor',
      'processor µs',
      'handled /s',
      'subscribed µs',
      'loaded µs',
      'PDF ms',
    ],
    rows,
  ),
)
process.exit()

/**
 * Measures the floor before and after every sample, so that other load on the machine affects both.
 */
async function measure(server) {
  await load(server, types.stored, 1)
  const samples = []
  let before = (await load(floor, types.stored)).perSecond
  for (let round = 0; round < Number(values.rounds); round++) {
    const { perSecond, microseconds } = await loadTimed(server)
    const after = (await load(floor, types.stored)).perSecond
    samples.push({ perSecond, microseconds, ratio: (2 * perSecond) / (before + after) })
    before = after
  }
  const handled = await untilHandled(server)
  const { asked, loaded } = await server.ask({ task: 'subscribed', seconds })
  const pdf = await server.ask({ task: 'pdf', seconds })
  return [
    Math.round(median(samples.map(({ perSecond }) => perSecond))).toLocaleString('en'),
    median(samples.map(({ ratio }) => ratio)).toFixed(3),
    median(samples.map((sample) => sample.microseconds)).toFixed(0),
    Math.round(handled).toLocaleString('en'),
    asked.toFixed(0),
    loaded.toFixed(2),
    (pdf / 1000).toFixed(1),
  ]
}

/**
 * Measures the processor time of one event as well, which depends less on other load on the
 * machine.
 */
async function loadTimed(server) {
  const before = await server.ask({ task: 'processor' })
  let answered = 0
  const { perSecond } = await load(server, types.stored, seconds, () => answered++)
  const used = (await server.ask({ task: 'processor' })) - before
  return { perSecond, microseconds: used / answered }
}

function load({ port }, type, forSeconds = seconds, onAnswer = () => {}) {
  const script = {
    request: () => nextEvent(type),
    check({ status, body }) {
      onAnswer()
      if (status === 200 && body.includes('"received":true')) return 1
      throw new Error(`The webhook was answered with ${status} ${body}`)
    },
  }
  const scripts = Array.from({ length: CONNECTIONS }, () => script)
  return runRound({ port, scripts, leadIn: forSeconds / 6, seconds: forSeconds })
}

/** Measures events per second from the first one sent until the last one is handled. */
async function untilHandled(server) {
  const start = performance.now()
  await load(server, types.handled)
  let handled = 0
  for (;;) {
    const now = await server.ask({ task: 'handled' })
    if (now === handled && now > 0) break
    handled = now
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  return (handled * 1000) / (performance.now() - start - 100)
}

function startServer(options) {
  const file = fileURLToPath(new URL('./billing-server.mjs', import.meta.url))
  const [command, args] = serverCommand([file, JSON.stringify(options)])
  const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  let fail = () => {}
  child.once('exit', (code) => fail(new Error(`The server ended with ${code}`)))
  const next = () =>
    new Promise((resolve, reject) => {
      fail = reject
      child.once('message', resolve)
    })
  return next().then(({ port }) => ({
    port,
    async ask(message) {
      const answered = next()
      child.send(message)
      return (await answered).result
    },
    stop: () => child.disconnect(),
  }))
}

function median(samples) {
  const sorted = [...samples].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)]
}

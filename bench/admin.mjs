/**
 * `npm run bench:admin [-- --people 10000,1000000 --store sqlite --rounds 15 --only audit]`: measures
 * the lists of the management API with few and with many people. Each round measures a list at
 * every size, so that other load on the machine affects all sizes alike. Prints the number of
 * statements, the time of one call at each size, and the last size relative to the first.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { fill } from './admin-rows.mjs'
import { openDatabases } from './databases.mjs'
import { formatTable } from './format-table.mjs'

const { values } = parseArgs({
  options: {
    people: { type: 'string', default: '10000,100000,1000000' },
    store: { type: 'string', default: 'sqlite' },
    rounds: { type: 'string', default: '15' },
    only: { type: 'string', default: '' },
    data: { type: 'string' },
  },
})
const DIST = new URL('../packages/server/dist/', import.meta.url)
const load = (path) => import(new URL(path, DIST))
const { connect } = await import('../packages/database/dist/index.js')
const { readEnvironment } = await load('config/environment.js')
const { parseSettings } = await load('config/settings.js')
const { createCore, migrateCore } = await load('core.js')
const { createLogger } = await load('logger.js')
const { createServiceBilling, NO_PROVIDER } = await load('billing.js')
const { createAdminServices } = await load('admin/services.js')
const { execute } = await load('admin/execute.js')
const { requireOperation } = await load('admin/operations/all.js')

/** A sample lasts at least this long, in milliseconds. */
const SAMPLE = 5
const actor = { kind: 'command', id: 'bench' }
const caller = { actor, door: 'command', address: null, requestId: null }

const databases = openDatabases(values.data)
const folder = mkdtempSync(join(tmpdir(), 'tollgate-bench-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))

const sizes = []
for (const people of values.people.split(',').map(Number)) {
  const start = performance.now()
  sizes.push(await openService(people))
  const seconds = ((performance.now() - start) / 1000).toFixed(0)
  console.error(`${people.toLocaleString('en')} people after ${seconds} s`)
}

const rows = []
for (const [name, title, inputOf] of listLists()) {
  if (!`${name} ${title}`.includes(values.only)) continue
  rows.push([`${name}${title && `, ${title}`}`, ...(await measure(name, inputOf))])
  console.error(rows.at(-1).join('  '))
}
console.log(`${values.store}, load of the machine: ${loadavg()[0].toFixed(1)}`)
const columns = sizes.map(({ people }) => `${people.toLocaleString('en')} ms`)
console.log(formatTable(['list', 'statements', ...columns, 'last/first'], rows))
for (const { close } of sizes) await close()
await databases.close()
process.exit()

/** Creates a database with this many people, and the operations on it. */
async function openService(people) {
  const databaseUrl = await databases.create(values.store)
  const state = { statements: 0 }
  // In the background: the feed of revocations, logouts, and the time of the database.
  const onQuery = (sql) => {
    if (!/oauth_(?:revocations|heartbeats|logouts)|tollgate_clock| as now$/.test(sql))
      state.statements += 1
  }
  const database = await connect(databaseUrl, { beginAnew: true, timeout: 600_000, onQuery })
  const config = readEnvironment(
    { DATABASE_URL: databaseUrl, TOLLGATE_DATA_DIR: folder },
    { settings: parseSettings({}), needs: ['secret', 'url', 'providers'] },
  )
  const logger = createLogger('silent')
  const parts = { config, database, clock: database.clock, logger, background: false }
  await migrateCore(database)
  const core = createCore({ ...parts, url: 'http://localhost' })
  const billing = createServiceBilling({ ...parts, providers: NO_PROVIDER })
  await billing.migrate()
  await core.oauth.ready()
  const places = await fill(database, people)
  const access = async () => billing
  const services = {
    ...createAdminServices({ ...parts, ...core, billing: { rows: access, provider: access } }),
    // Readable cursors, so that a list can be read from any place.
    cursors: {
      encode: (_list, position) => JSON.stringify(position),
      decode: (_list, cursor) => JSON.parse(cursor),
    },
  }
  return {
    people,
    places,
    read: (name, input) => execute(requireOperation(name), { caller, input }, services),
    takeStatements() {
      const { statements } = state
      state.statements = 0
      return statements
    },
    async close() {
      await billing.close()
      await core.oauth.close()
      await database.close()
    },
  }
}

/**
 * Every list: name, filter and a function that returns the input for one call. Lookups ask for
 * another person each time.
 */
function listLists() {
  const deep = (position, filter = {}) => ({ ...filter, after: JSON.stringify(position) })
  const spread = (call, count) => 1 + ((call * 7919) % count)
  const somebody = ({ people }, call) => ({ id: String(spread(call, people)) })
  const actor = { actor_kind: 'operator', actor_id: '7' }
  const audits = [
    ['', () => ({})],
    ['by actor', () => actor],
    ['by operation', () => ({ operation: 'users.disable' })],
    [
      'by subject',
      ({ places }) => ({ subject_kind: 'user', subject_id: String(places.busyPerson) }),
    ],
    ['by owner', ({ places }) => ({ owner: String(places.busyPerson) })],
    ['by outcome', () => ({ outcome: 'failed' })],
    ['by time', ({ places }) => ({ from: places.from, to: places.to })],
    ['by actor and operation', () => ({ ...actor, operation: 'users.signOut' })],
    ['by actor and operation, none match', () => ({ ...actor, operation: 'users.disable' })],
    [
      'by operation and outcome, none match',
      () => ({ operation: 'keys.rotate', outcome: 'refused' }),
    ],
  ]
  return [
    ['users.list', 'first page', () => ({})],
    ['users.list', 'deep page', ({ people }) => deep(String(people / 2))],
    [
      'users.list',
      'by e-mail',
      ({ people }, call) => ({ email: `person-${spread(call, people)}@example.com` }),
    ],
    [
      'users.list',
      'by customer',
      ({ people }, call) => ({ customer: `cus_${spread(call, people)}` }),
    ],
    ['users.list', 'by customer, none match', () => ({ customer: 'cus_nobody' })],
    ['users.list', 'by role', () => ({ role: 'support' })],
    [
      'users.list',
      'by role, deep page',
      ({ people }) => deep(String(people / 2), { role: 'support' }),
    ],
    ['users.list', 'by role, none match', () => ({ role: 'owner' })],
    ['users.listSessions', '', somebody],
    ['users.listApplications', '', somebody],
    ['users.listTokens', '', somebody],
    ['users.listTimeline', 'first page', ({ places }) => ({ id: String(places.busyPerson) })],
    [
      'users.listTimeline',
      'deep page',
      ({ places }) => deep(places.entry, { id: String(places.busyPerson) }),
    ],
    ['clients.list', 'first page', () => ({})],
    ['clients.list', 'deep page', ({ places }) => deep(places.client)],
    ['clients.list', 'search, many match', () => ({ search: 'Application' })],
    ['clients.list', 'search, none match', () => ({ search: 'nowhere' })],
    [
      'clients.list',
      'search, none match, deep',
      ({ places }) => deep(places.client, { search: 'nowhere' }),
    ],
    ['clients.list', 'search, an id', ({ places }) => ({ search: places.clientId })],
    ...audits.flatMap(([title, filterOf]) => [
      ['audit.list', [title, 'first page'].filter(Boolean).join(', '), filterOf],
      [
        'audit.list',
        [title, 'deep page'].filter(Boolean).join(', '),
        (size) => deep(size.places.entry, filterOf(size)),
      ],
    ]),
    ['audit.head', '', () => ({})],
    ['billing.listSubscriptions', 'first page', () => ({})],
    ['billing.listSubscriptions', 'deep page', ({ people }) => deep(String(people / 4))],
    ['billing.listSubscriptions', 'by provider', () => ({ provider: 'braintree' })],
    ['billing.listSubscriptions', 'by plan', () => ({ plan: 'pro' })],
    ['billing.listSubscriptions', 'by state, many match', () => ({ state: 'active' })],
    ['billing.listSubscriptions', 'by state, few match', () => ({ state: 'past_due' })],
    ['billing.listSubscriptions', 'by state, none match', () => ({ state: 'paused' })],
    ['billing.listSubscriptionsOf', '', somebody],
    ['webhooks.list', 'first page', () => ({ state: 'done' })],
    ['webhooks.list', 'deep page', ({ places }) => deep(places.webhook, { state: 'done' })],
    ['webhooks.listDeliveries', 'first page', () => ({ state: 'done' })],
    [
      'webhooks.listDeliveries',
      'deep page',
      ({ places }) => deep(places.webhook, { state: 'done' }),
    ],
  ]
}

async function measure(name, inputOf) {
  const counts = new Set()
  for (const size of sizes) {
    // The first calls prepare what later ones find prepared.
    for (let call = 0; call < 3; call++) await size.read(name, inputOf(size, call))
    size.takeStatements()
    await size.read(name, inputOf(size, 3))
    counts.add(size.takeStatements())
  }
  const samples = sizes.map(() => [])
  for (let round = 0; round < Number(values.rounds); round++) {
    const order = [...sizes.keys()]
    if (round % 2 === 1) order.reverse()
    for (const at of order) samples[at].push(await sample(sizes[at], name, inputOf, round))
  }
  const [first, last] = [samples[0], samples.at(-1)]
  const ratio = median(last.map((time, round) => time / first[round]))
  return [
    [...counts].join(' to '),
    ...samples.map((times) => median(times).toFixed(2)),
    ratio.toFixed(2),
  ]
}

/** Milliseconds per call. */
async function sample(size, name, inputOf, round) {
  let calls = 0
  const start = performance.now()
  do {
    await size.read(name, inputOf(size, round * 1000 + calls))
    calls += 1
  } while (performance.now() - start < SAMPLE)
  return (performance.now() - start) / calls
}

function median(numbers) {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)]
}

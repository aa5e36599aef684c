// npm run files-executed: counts our files that execute code in five calls: a token, a guarded
// request, a month of a subscription with its webhooks, a new subscription and a swap. Files that
// are only loaded do not count, nor those of the sandbox. With --list it names the files.
// docs/architecture.md explains the numbers.
import { Session } from 'node:inspector/promises'
import { fileURLToPath } from 'node:url'
import { startBilling } from '../packages/billing/dist/testing/index.js'
import { connect } from '../packages/database/dist/index.js'
import { forHono } from '../packages/oauth/dist/adapters/hono.js'
import { clientCredentials, createAuthorizationServer } from '../packages/oauth/dist/index.js'

const DIST = /packages\/(\w+)\/dist\/(.*)\.js$/
const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })

const rows = []

/** Counts what `call` executes the second time, when everything is set up. */
async function count(name, call) {
  await call()
  await session.post('Profiler.takePreciseCoverage')
  await call()
  const { result } = await session.post('Profiler.takePreciseCoverage')
  const files = result
    .filter(({ url, functions }) => DIST.test(url) && functions.some(isCalled))
    .map(({ url }) => fileURLToPath(url).match(DIST).slice(1).join('/'))
    .filter((file) => !file.startsWith('sandbox/'))
  rows.push({ name, files: [...new Set(files)].sort() })
}

/** The first function of a file has no name: it is the file's top level. */
function isCalled({ functionName, ranges: [range] }) {
  return range.count > 0 && !(functionName === '' && range.startOffset === 0)
}

/** Returns the number of files of each package, such as `oauth 40, database 21, http 3`. */
function countByPackage(files) {
  const counts = new Map()
  for (const file of files) {
    const [name] = file.split('/')
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return [...counts]
    .sort((a, b) => b[1] - a[1])
    .map(([name, n]) => `${name} ${n}`)
    .join(', ')
}

await countTokens()
await countBilling()

for (const { name, files } of rows) {
  console.log(`${String(files.length).padStart(4)}  ${name} (${countByPackage(files)})`)
  if (process.argv.includes('--list')) for (const file of files) console.log(`        ${file}`)
}
process.exit(0)

async function countTokens() {
  const database = await connect('sqlite::memory:')
  const oauth = createAuthorizationServer({
    issuer: 'http://localhost',
    secret: 'x'.repeat(32),
    database,
    users: {
      findById: async () => null,
      findByCredentials: async () => null,
      fromRequest: async () => null,
    },
    scopes: { read: 'Read' },
    grants: [clientCredentials()],
  })
  const { client, secret } = await oauth.clients.create({
    name: 'Measured',
    redirect: 'http://localhost/callback',
    grants: ['client_credentials'],
  })
  const form = {
    grant_type: 'client_credentials',
    client_id: client.id,
    client_secret: secret,
    scope: 'read',
  }
  const issue = async () => {
    const body = new URLSearchParams(form)
    const response = await oauth.fetch(
      new Request('http://localhost/oauth/token', { method: 'POST', body }),
    )
    if (response.status !== 200) throw new Error(await response.text())
    return (await response.json()).access_token
  }
  await count('a token by client credentials', issue)
  const token = await issue()
  const { Hono } = await import('hono')
  const { auth, scopes } = forHono(oauth)
  const app = new Hono().get('/', auth('client'), scopes('read'), (c) => c.text('in'))
  const headers = { authorization: `Bearer ${token}` }
  await count('a guarded request', async () => {
    const response = await app.request('http://localhost/', { headers })
    if (response.status !== 200) throw new Error(await response.text())
  })
  await oauth.close()
}

async function countBilling() {
  const quiet = { defaultProvider: 'stripe', logger: { error() {} } }
  const month = await startBilling(quiet)
  await subscribe(month)
  await count('a month of a subscription, with its webhooks', () => month.advance({ months: 1 }))
  await month.close()
  // The webhooks of these calls would be counted, too.
  const calls = await startBilling({ ...quiet, webhooks: false })
  await subscribe(calls)
  await count('a new subscription', () => subscribe(calls))
  const subscription = await subscribe(calls)
  const plans = ['pro', 'monthly']
  await count('a swap', () => subscription.swap(plans.shift()))
  await calls.close()
}

async function subscribe(test) {
  const user = await test.createUser()
  return user.newSubscription('main', 'monthly').create('pm_card_visa')
}

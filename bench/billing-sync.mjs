/**
 * `npm run bench:sync [-- --users 10000 --provider stripe]`: measures the number of provider
 * requests and the time that `billing.sync()` takes if nothing differs, if one user in a thousand
 * does, and if it compares only recent changes. Both providers are the sandbox's. Creating the
 * users takes most of the time.
 */
import { subscribe } from 'node:diagnostics_channel'
import { parseArgs } from 'node:util'
import { startBilling } from '../packages/billing/dist/testing/index.js'
import { formatTable } from './format-table.mjs'

const { values } = parseArgs({
  options: {
    users: { type: 'string', default: '10000' },
    provider: { type: 'string', default: 'stripe' },
  },
})
const count = Number(values.users)
const { provider } = values
const TOGETHER = 20

let calls = 0
subscribe('http.client.request.start', () => {
  calls += 1
})

const test = await startBilling({ defaultProvider: provider, webhooks: false })
const { billing, database, sandbox } = test
for (let at = 0; at < count; at += TOGETHER) {
  const ids = Array.from({ length: Math.min(TOGETHER, count - at) }, (_, i) => 2 + at + i)
  await Promise.all(ids.map(create))
  if (at % 1000 === 0) console.error(`${at} users`)
}

const some = Array.from({ length: Math.ceil(count / 1000) }, (_, i) => 2 + i * 1000)
const rows = []
rows.push(['nothing differs', ...(await measure({}))])
await falsify()
rows.push(['one in a thousand differs', ...(await measure({}))])
await sandbox.clock.advance({ days: 1 })
const since = sandbox.clock.now()
for (const id of some) await (await (await billing.user(id)).subscription('main')).cancel()
await falsify()
rows.push(['the same with since', ...(await measure({ since }))])
console.log(`${provider}, ${count.toLocaleString('en')} users`)
console.log(formatTable(['sync()', 'calls', 'seconds', 'differences', 'MB more'], rows))
await test.close()
process.exit()

async function create(id) {
  const email = `user-${id}@example.com`
  await database.kysely
    .insertInto('users')
    .values({ id, email, name: `User ${id}` })
    .execute()
  const user = await billing.user(id)
  const token = provider === 'stripe' ? 'pm_card_visa' : sandbox.braintree.createNonce()
  await user.newSubscription('main', 'monthly').create(token)
}

/** Changes some rows so that they differ from the provider. */
async function falsify() {
  await database.kysely
    .updateTable('subscriptions')
    .set({ provider_plan: 'something else' })
    .where('user_id', 'in', some)
    .execute()
}

async function measure(options) {
  calls = 0
  const before = process.memoryUsage().rss
  const start = performance.now()
  const { drift, failures } = await billing.sync(options)
  if (failures.length > 0) throw new Error(JSON.stringify(failures[0]))
  const seconds = ((performance.now() - start) / 1000).toFixed(1)
  const more = Math.round((process.memoryUsage().rss - before) / 1024 / 1024)
  return [calls, seconds, drift.length, more].map(String)
}

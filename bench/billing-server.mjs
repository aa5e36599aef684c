/**
 * Server process of `billing.mjs`: the billing routes on bare `node:http`, with the given number of
 * subscriptions in its tables. Work that needs no HTTP is measured here on request of the parent
 * process.
 */
import { createServer } from 'node:http'
import { createBilling, renderInvoice } from '@tollgate/billing'
import { nodeListener } from '@tollgate/billing/node'
import { connect } from '@tollgate/database'
import { sql } from 'kysely'
import { webhookSecret } from './billing-events.mjs'
import { readBody, sendJson } from './http.mjs'

const { databaseUrl, subscriptions } = JSON.parse(process.argv[2])
const database = databaseUrl && (await connect(databaseUrl))
const tidy = {
  postgres: ['VACUUM ANALYZE users', 'VACUUM ANALYZE subscriptions', 'CHECKPOINT'],
  sqlite: ['ANALYZE', 'PRAGMA wal_checkpoint(TRUNCATE)'],
}

let handled = 0
const billing = database && (await createServerBilling())

const listener = billing
  ? nodeListener(billing)
  : // The floor: reads the same request and sends a response of the same size.
    async (request, response) => {
      await readBody(request)
      sendJson(response, 200, { received: true })
    }
const server = createServer(listener).listen(0, '127.0.0.1', () => {
  process.send({ port: server.address().port })
})

const tasks = {
  handled: async () => handled,
  processor: async () => process.cpuUsage().user + process.cpuUsage().system,
  /** Microseconds per call, one call at a time. */
  subscribed: async ({ seconds }) => {
    let user = await billing.user(1)
    const subscription = await user.subscription('main')
    const asked = await timed(seconds, async (n) => {
      if (n % 100 === 0) user = await billing.user(1 + Math.floor(Math.random() * subscriptions))
      if (!(await user.subscribed('main'))) throw new Error('A user is not subscribed')
    })
    const loaded = await timed(seconds / 4, () => subscription.valid())
    return { asked, loaded }
  },
  /** Microseconds per page. */
  pdf: ({ seconds }) =>
    timed(seconds, (n) =>
      renderInvoice(invoice(n), { vendor: 'Tollgate Ltd', product: 'Gold', locale: 'de-DE' }),
    ),
}
process.on('message', async ({ task, ...options }) => {
  process.send({ result: await tasks[task](options) })
})
process.on('disconnect', () => process.exit())

async function createServerBilling() {
  const { kysely } = database
  await kysely.schema
    .createTable('users')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('email', 'varchar(255)')
    .execute()
  const made = createBilling({
    database,
    users: { table: 'users' },
    stripe: { secret: 'sk_test_bench', webhookSecret },
    // Replaces the default handler, which would measure Stripe.
    handlers: { handleInvoicePaid: () => handled++ },
  })
  await made.migrate()
  await fill(subscriptions)
  return made
}

/**
 * Writes directly into the tables: creating a million subscriptions one by one would take longer
 * than the benchmark.
 */
async function fill(count) {
  // Uses the same library: two copies of SQLite in one process break each other's locks.
  const patient = await connect(databaseUrl, { timeout: 600_000 })
  const {
    dialect: { name: dialect },
    kysely,
  } = patient
  const execute = (text) => sql.raw(text).execute(kysely)
  const series = {
    postgres: `generate_series(1, ${count}) AS s(n)`,
    sqlite: `(WITH RECURSIVE s(n) AS
      (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < ${count}) SELECT n FROM s)`,
  }[dialect]
  const moment = { postgres: 'to_timestamp(1)', sqlite: '1' }[dialect]
  await execute(`INSERT INTO users (id, email, provider, provider_id)
    SELECT n, 'user-' || n || '@example.com', 'stripe', 'cus_' || n FROM ${series}`)
  await execute(`INSERT INTO subscriptions (user_id, name, provider, provider_id, provider_plan,
      provider_status, quantity, created_at, updated_at)
    SELECT n, 'main', 'stripe', 'sub_' || n, 'monthly', 'active', 1, ${moment}, ${moment} FROM ${series}`)
  for (const statement of tidy[dialect]) await execute(statement)
  await patient.close()
}

async function timed(seconds, act) {
  for (let n = 0; n < 50; n++) await act(n)
  const start = performance.now()
  let count = 0
  while (performance.now() - start < seconds * 1000) await act(count++)
  return ((performance.now() - start) * 1000) / count
}

function invoice(n) {
  const start = new Date('2026-03-01')
  const period = { start, end: new Date('2026-04-01') }
  return {
    id: `in_${n}`,
    provider: 'stripe',
    number: `TG-${n}`,
    date: start,
    paid: true,
    currency: 'eur',
    customer: { name: 'Zażółć Иванова', email: `user-${n}@example.com` },
    lines: [
      { description: '2 × Gold (at €10.00 / month)', amount: 2000, quantity: 2, period },
      { description: 'Setup', amount: 550, quantity: 1, period: null },
    ],
    subtotal: 2550,
    discounts: [{ name: 'SPRING', percentOff: 10, amount: 255 }],
    taxes: [{ percentage: '19', amount: 436, inclusive: false }],
    total: 2731,
    startingBalance: 0,
    amountDue: 2731,
    raw: null,
  }
}

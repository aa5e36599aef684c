// Start-up, plain calls and a year of renewals. Needs a build: npm run build
import { Agent, request } from 'node:http'
import { startSandbox } from '../dist/index.js'

const CUSTOMERS = Number(process.env.BENCH_CUSTOMERS ?? 1000)
const CALLS = Number(process.env.BENCH_CALLS ?? 20_000)
const CONNECTIONS = 16

const started = performance.now()
const sandbox = await startSandbox({
  stripe: true,
  braintree: true,
  now: new Date('2026-01-31T00:00:00Z'),
})
const startMs = performance.now() - started

const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
const { host, port } = sandbox.stripe.config
const headers = {
  authorization: `Bearer ${sandbox.stripe.apiKey}`,
  'content-type': 'application/x-www-form-urlencoded',
}

function call(method, path, params = {}) {
  return new Promise((resolve, reject) => {
    const sent = request({ host, port, method, path, headers, agent }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk) => {
        text += chunk
      })
      response.on('end', () => {
        if (response.statusCode === 200) resolve(JSON.parse(text))
        else reject(new Error(`${method} ${path}: ${response.statusCode} ${text}`))
      })
    })
    sent.on('error', reject)
    sent.end(new URLSearchParams(params).toString())
  })
}

/** Makes `count` calls, a few at a time. */
async function many(count, run) {
  let next = 0
  const results = new Array(count)
  const worker = async () => {
    while (next < count) {
      const at = next++
      results[at] = await run(at)
    }
  }
  const from = performance.now()
  await Promise.all(Array.from({ length: CONNECTIONS }, worker))
  return { results, perSecond: Math.round((count / (performance.now() - from)) * 1000) }
}

const customers = await many(CUSTOMERS, (at) =>
  call('POST', '/v1/customers', { email: `c${at}@example.com`, payment_method: 'pm_card_visa' }),
)
const reads = await many(CALLS, (at) =>
  call('GET', `/v1/customers/${customers.results[at % CUSTOMERS].id}`),
)
const writes = await many(CALLS, (at) =>
  call('POST', `/v1/customers/${customers.results[at % CUSTOMERS].id}`, {
    'metadata[n]': String(at),
  }),
)

const product = await call('POST', '/v1/products', { name: 'Gold' })
const price = await call('POST', '/v1/prices', {
  product: product.id,
  currency: 'usd',
  unit_amount: '1000',
  'recurring[interval]': 'month',
})
await many(CUSTOMERS, async (at) => {
  const { id } = customers.results[at]
  const { data } = await call('GET', `/v1/customers/${id}/payment_methods`)
  await call('POST', `/v1/customers/${id}`, {
    'invoice_settings[default_payment_method]': data[0].id,
  })
  await call('POST', '/v1/subscriptions', { customer: id, 'items[0][price]': price.id })
})
const cpuFrom = process.cpuUsage()
const from = performance.now()
await sandbox.clock.advance({ years: 1, hours: 2 })
const yearMs = performance.now() - from
const yearCpu = process.cpuUsage(cpuFrom)
const memory = process.memoryUsage().rss / 1_048_576
const paid = sandbox.stripe.paidInvoices().length
if (paid !== CUSTOMERS * 13) throw new Error(`${paid} paid invoices`)

console.log(`start-up                     ${startMs.toFixed(0)} ms (wanted: under 300)`)
console.log(`customers created            ${customers.perSecond} calls/s`)
console.log(`customers read               ${reads.perSecond} calls/s (wanted: 2000 or more)`)
console.log(`customers updated            ${writes.perSecond} calls/s (wanted: 2000 or more)`)
console.log(
  `a year of ${CUSTOMERS} subscriptions  ${(yearMs / 1000).toFixed(2)} s, ${((yearCpu.user + yearCpu.system) / 1e6).toFixed(2)} s of processor time (wanted: under 10)`,
)
console.log(`resident memory              ${memory.toFixed(0)} MB (wanted: under 500)`)
agent.destroy()
await sandbox.close()

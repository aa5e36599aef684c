// Measures the processor time of lists of events by type, and of searches:
// node bench/lists.mjs [--objects 50000] [--beside ../../../before/packages/sandbox]
// With --beside, another checkout answers the same calls in its own process. Needs a build of both.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'

const START = Date.UTC(2026, 0, 15)
/** Number of renewals, each of which creates one invoice, charge and payment intent. */
const RENEWALS = 12
const TIMES = 10

/** The measured calls. `customer` is neither the first nor the last one. */
const CALLS = {
  'a rare type': () => '/v1/events?type=plan.created&limit=10',
  'a common type': () => '/v1/events?type=invoice.paid&limit=10',
  'two types': () => '/v1/events?types[]=product.created&types[]=plan.created&limit=10',
  'customers by email': ({ email }) => search('customers', `email:"${email}"`),
  'customers by part of an email': ({ email }) => search('customers', `email~"${email}"`),
  'customers by metadata': ({ n }) => search('customers', `metadata["n"]:"${n}"`),
  'subscriptions by metadata': ({ n }) => search('subscriptions', `metadata["n"]:"${n}"`),
  'subscriptions by status': () => search('subscriptions', 'status:"past_due"'),
  'invoices by customer': ({ id }) => search('invoices', `customer:"${id}" AND status:"paid"`),
  'invoices by a rare status': () => search('invoices', 'status:"void"'),
  'invoices by a common status': () => search('invoices', 'status:"paid"'),
  'charges by customer': ({ id }) => search('charges', `customer:"${id}"`),
  'charges by metadata': ({ n }) => search('charges', `metadata["n"]:"${n}"`),
  'charges by amount': () => search('charges', 'amount>100000'),
  'charges by a rare status': () => search('charges', 'status:"failed"'),
  'charges by their time': ({ created }) => search('charges', `created<${created}`),
  'payment intents by status': () => search('payment_intents', 'status:"requires_action"'),
  'payment intents by metadata': ({ n }) => search('payment_intents', `metadata["n"]:"${n}"`),
}

function search(resource, query) {
  return `/v1/${resource}/search?query=${encodeURIComponent(query)}`
}

async function main() {
  const { values } = parseArgs({
    options: { objects: { type: 'string', default: '50000' }, beside: { type: 'string' } },
  })
  const here = fileURLToPath(new URL('..', import.meta.url))
  const folders = values.beside ? [resolve(values.beside), here] : [here]
  const answers = []
  for (const folder of folders) answers.push(await measure(folder, values.objects))
  const [first] = answers
  console.log(`${first.events} events, ${first.charges} charges, ${values.objects} customers`)
  console.log(`milliseconds of processor time for a call: ${folders.join(', ')}`)
  for (const name of Object.keys(CALLS)) {
    const spent = answers.map(({ calls }) => calls[name].toFixed(1).padStart(8)).join('')
    console.log(`  ${name.padEnd(36)}${spent}`)
  }
  console.log(
    `  resident, MB${' '.repeat(24)}${answers.map(({ memory }) => String(memory).padStart(8)).join('')}`,
  )
}

async function measure(folder, objects) {
  const child = fork(fileURLToPath(import.meta.url), ['--child', folder, objects])
  const [answer] = await once(child, 'message')
  child.disconnect()
  return answer
}

async function child(folder, objects) {
  const { startSandbox } = await import(pathToFileURL(resolve(folder, 'dist/index.js')).href)
  const sandbox = await startSandbox({ stripe: true, now: new Date(START) })
  const call = caller(sandbox.stripe)
  const someone = await fill(call, objects)
  await sandbox.clock.advanceTo(new Date(Date.UTC(2027, 0, 15, 2)))
  const calls = {}
  for (const [name, path] of Object.entries(CALLS)) {
    const from = processorTime()
    for (let n = 0; n < TIMES; n++) await call('GET', path(someone))
    calls[name] = (processorTime() - from) / TIMES
  }
  const memory = Math.round(process.memoryUsage().rss / 1_048_576)
  const events = sandbox.stripe.events().length
  const charges = sandbox.stripe.paidInvoices().length
  process.send({ calls, memory, events, charges })
  process.on('disconnect', () => process.exit())
}

function processorTime() {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

function caller({ apiKey, config }) {
  const agent = new Agent({ keepAlive: true, maxSockets: 8 })
  return (method, path, params) =>
    new Promise((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${apiKey}`,
        'content-type': 'application/x-www-form-urlencoded',
      }
      const { host, port } = config
      const sent = request({ host, port, method, path, headers, agent }, (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (chunk) => {
          text += chunk
        })
        response.on('end', () => {
          if (response.statusCode === 200) resolve(JSON.parse(text))
          else reject(new Error(`${path}: ${response.statusCode} ${text}`))
        })
      })
      sent.on('error', reject)
      sent.end(new URLSearchParams(params).toString())
    })
}

/** Creates customers, some with a subscription to a monthly price, and returns one of those. */
async function fill(call, objects) {
  const { id: product } = await call('POST', '/v1/products', { name: 'Gold' })
  const { id: price } = await call('POST', '/v1/prices', {
    product,
    currency: 'usd',
    unit_amount: '1000',
    'recurring[interval]': 'month',
  })
  const subscribers = Math.ceil(objects / (RENEWALS + 1))
  let next = 0
  let someone = null
  const worker = async () => {
    while (next < objects) {
      const n = next++
      const email = `c${n}@example.com`
      const isSubscriber = n < subscribers
      const card = 'pm_card_visa'
      const customer = await call('POST', '/v1/customers', {
        email,
        'metadata[n]': `${n}`,
        ...(isSubscriber && {
          payment_method: card,
          'invoice_settings[default_payment_method]': card,
        }),
      })
      if (!isSubscriber) continue
      const items = { 'items[0][price]': price, 'metadata[n]': `${n}` }
      await call('POST', '/v1/subscriptions', { customer: customer.id, ...items })
      if (n === subscribers >> 1) someone = { n, email, id: customer.id, created: customer.created }
    }
  }
  await Promise.all(Array.from({ length: 8 }, worker))
  return someone
}

if (process.argv[2] === '--child') await child(process.argv[3], Number(process.argv[4]))
else await main()

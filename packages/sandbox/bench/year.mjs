// Measures a year of renewals:
// node bench/year.mjs [--customers 1000] [--beside ../../../before/packages/sandbox]
// With --beside, another checkout runs the same year in its own process. The two take turns month
// by month, so that other load on the machine affects both. Needs a build of both.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'

const START = Date.UTC(2026, 0, 15)

async function main() {
  const { values } = parseArgs({
    options: {
      customers: { type: 'string', default: '1000' },
      beside: { type: 'string' },
    },
  })
  const here = fileURLToPath(new URL('..', import.meta.url))
  const packages = values.beside ? [resolve(values.beside), here] : [here]
  const runners = packages.map((folder) => new Runner(folder))
  for (const runner of runners) await runner.ask({ start: Number(values.customers) })
  for (let month = 1; month <= 12; month++) {
    // Progress goes to standard error, because ten thousand customers take minutes.
    console.error(`month ${month}: ${runners.map(({ spent }) => seconds(spent)).join(', ')} so far`)
    const turn = month % 2 === 0 ? runners.toReversed() : runners
    for (const runner of turn) runner.spent += (await runner.ask({ month })).spent
  }
  for (const runner of runners) {
    // Reading all pages would take minutes if each page started with a scan of all earlier ones.
    const { invoices, listed, memory, own, pages } = await runner.ask({
      list: runner.folder === here,
    })
    console.log(runner.folder)
    console.log(
      `  a year of ${values.customers} subscriptions  ${seconds(runner.spent)} of processor time`,
    )
    console.log(`  paidInvoices(), ${invoices} of them     ${seconds(listed)}`)
    console.log(`  a customer's invoices, one call ${own.toFixed(1)} ms`)
    if (pages) console.log(`  all invoices, ${pages.calls} calls of 100   ${seconds(pages.spent)}`)
    console.log(`  most memory in the year         ${megabytes(memory.year)} resident`)
    console.log(
      `  most memory, lists included     ${megabytes(memory.most)} resident; at its most the heap had ${megabytes(memory.heap)}, buffers outside of it ${megabytes(memory.buffers)}`,
    )
    runner.stop()
  }
  const [before, now] = runners
  if (now) console.log(`now / before  ${(now.spent / before.spent).toFixed(3)}`)
}

function megabytes(bytes) {
  return `${Math.round(bytes / 1_048_576)} MB`
}

function seconds(milliseconds) {
  return `${(milliseconds / 1000).toFixed(2)} s`
}

class Runner {
  spent = 0
  #process

  constructor(folder) {
    this.folder = folder
    this.#process = fork(fileURLToPath(import.meta.url), ['--child', folder])
    this.#process.once('exit', (code) => {
      if (code !== 0) throw new Error(`${this.folder}: exit ${code}`)
    })
  }

  async ask(question) {
    this.#process.send(question)
    const [answer] = await once(this.#process, 'message')
    return answer
  }

  stop() {
    this.#process.disconnect()
  }
}

async function child(folder) {
  const { startSandbox } = await import(pathToFileURL(resolve(folder, 'dist/index.js')).href)
  const sandbox = await startSandbox({ stripe: true, now: new Date(START) })
  const call = caller(sandbox.stripe)
  const memory = { heap: 0, buffers: 0 }
  // Sampled between steps only, so the peak is somewhat higher; the operating system reports the
  // resident size.
  const look = () => {
    const { heapUsed, arrayBuffers } = process.memoryUsage()
    memory.heap = Math.max(memory.heap, heapUsed)
    memory.buffers = Math.max(memory.buffers, arrayBuffers)
  }
  let someone = ''
  const answers = {
    start: async (customers) => {
      someone = await subscribe(call, customers)
      return {}
    },
    month: async (month) => {
      const from = processorTime()
      await sandbox.clock.advanceTo(new Date(Date.UTC(2026, month, 15, 2)))
      const spent = processorTime() - from
      look()
      return { spent }
    },
    list: async (all) => {
      memory.year = mostResident()
      const own = await spentOn(async () => {
        for (let n = 0; n < 20; n++) await call('GET', `/v1/invoices?customer=${someone}&limit=100`)
      })
      let calls = 0
      const spent = await spentOn(async () => {
        for (let last = all ? '' : null; last !== null; calls++) {
          const after = last && `&starting_after=${last}`
          const page = await call('GET', `/v1/invoices?status=paid&limit=100${after}`)
          last = page.has_more ? page.data.at(-1).id : null
          if (calls % 100 === 0) look()
        }
      })
      let invoices = 0
      const listed = await spentOn(() => {
        const paid = sandbox.stripe.paidInvoices()
        invoices = paid.length
        look()
      })
      memory.most = mostResident()
      return { invoices, listed, memory, own: own / 20, pages: all ? { calls, spent } : null }
    },
  }
  process.on('message', async (question) => {
    const [[name, value]] = Object.entries(question)
    process.send(await answers[name](value))
  })
  process.on('disconnect', () => process.exit())
}

async function spentOn(work) {
  const from = processorTime()
  await work()
  return processorTime() - from
}

function mostResident() {
  return process.resourceUsage().maxRSS * 1024
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

/** Subscribes the customers and returns one of them. */
async function subscribe(call, customers) {
  const { id: product } = await call('POST', '/v1/products', { name: 'Gold' })
  const { id: price } = await call('POST', '/v1/prices', {
    product,
    currency: 'usd',
    unit_amount: '1000',
    'recurring[interval]': 'month',
  })
  let next = 0
  let someone = ''
  const worker = async () => {
    while (next < customers) {
      const card = 'pm_card_visa'
      const { id } = await call('POST', '/v1/customers', {
        email: `c${next++}@example.com`,
        payment_method: card,
        'invoice_settings[default_payment_method]': card,
      })
      await call('POST', '/v1/subscriptions', { customer: id, 'items[0][price]': price })
      someone = id
    }
  }
  await Promise.all(Array.from({ length: 8 }, worker))
  return someone
}

if (process.argv[2] === '--child') await child(process.argv[3])
else await main()

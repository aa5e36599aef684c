// Another process of the application, with the built packages: node child.mjs <settings as JSON>.
// Reads jobs as lines of JSON, which may run concurrently, and writes reports as lines of JSON.
import { AsyncLocalStorage } from 'node:async_hooks'
import { writeSync } from 'node:fs'
import http from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import { createInterface } from 'node:readline'
import { createBilling } from '@tollgate/billing'
import { connect, mysql, postgres, sqlite } from '@tollgate/database'
import { doJob, taxByName } from './killed/jobs.ts'

const setting = JSON.parse(process.argv[2])
/** Writes synchronously, so that nothing happens between a step and its report. */
const report = (message) => writeSync(1, `${JSON.stringify(message)}\n`)

/** The job that the current code runs for. */
const working = new AsyncLocalStorage()

const NEVER = new Promise(() => undefined)

/**
 * Called before each effect. Returns true if the job stops here for good: then the caller must do
 * nothing, and other jobs continue until the process is killed. If the job says so, freezes the
 * whole process instead.
 */
function stops(what, job = working.getStore()) {
  if (!job) throw new Error(`No job is known for this step: ${what}`)
  if (job.isStopped) return true
  job.steps.push(what)
  job.isStopped = job.steps.length === job.stopAt
  if (!job.isStopped) return false
  job.report({ stopped: what })
  if (job.freezes) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  return true
}

const send = http.request
http.request = (...args) => {
  // Either options, or a URL before them.
  const url = args.find((each) => each instanceof URL)
  const options = args.find((each) => typeof each === 'object' && each !== url) ?? {}
  const { method = 'GET', path = url?.pathname ?? '' } = options
  // Nothing changes between a response and the next effect, so being killed here equals being
  // killed before that effect.
  if (method === 'GET' && !setting.stopsEverywhere) return send(...args)
  const what = `${method} ${path}`
  // This host name is never resolved, so nothing is sent.
  if (stops(`before ${what}`)) return send({ host: 'nowhere', lookup: () => undefined })
  const sent = send(...args)
  return setting.stopsEverywhere ? stopAfter(what, sent) : sent
}
syncBuiltinESMExports()

/** At the stop, the response is dropped. */
function stopAfter(what, sent) {
  const job = working.getStore()
  const { emit } = sent
  sent.emit = (name, ...rest) =>
    name === 'response' && stops(`after ${what}`, job) ? true : emit.call(sent, name, ...rest)
  return sent
}

const stopsBeforeWrite = ({ sql }) =>
  /^\s*(insert|update|delete)/i.test(sql) && stops(`before ${sql.slice(0, 60)}`)

/** Leases are renewed by a timer, between any two steps, so a renewal is not a step. */
const isLeaseRenewal = ({ sql }) => /^update .billing_locks. set .expires_at. =/.test(sql)

/** Wraps a dialect so that each write is a step. */
const watched = (dialect) => ({
  ...dialect,
  async open(...args) {
    const engine = await dialect.open(...args)
    return {
      ...engine,
      run: (query, values) =>
        !isLeaseRenewal(query) && stopsBeforeWrite(query) ? NEVER : engine.run(query, values),
      async reserve() {
        const session = await engine.reserve()
        const run = async (query, values) => {
          if (!stopsBeforeWrite(query)) return session.run(query, values)
          // This is what a database sees of a killed process: the connection and its transaction
          // are gone.
          await session.release(true)
          return NEVER
        }
        return { ...session, run }
      },
    }
  },
})
const database = await connect(setting.url, {
  timeout: 10_000,
  dialects: [sqlite, postgres, mysql].map(watched),
})
const providers = {
  stripe: async ({ stripe }) => {
    await import('stripe')
    return { stripe }
  },
  braintree: async ({ braintree: { keys, host, port } }) => {
    const { default: sdk } = await import('braintree')
    const environment = new sdk.Environment(host, port, `http://${host}`, false, host, port)
    return { braintree: { ...keys, environment, metered: { calls: { unitAmount: 5 } } } }
  },
}
/** An event listener and a mailer. What they report is kept after the process is killed. */
const listening = () => {
  const say = async (what, id) => {
    if (stops(`before it is ${what}`)) await NEVER
    working.getStore().report({ [what]: id })
  }
  return {
    invoice: { vendor: 'Example Ltd', product: 'Gold' },
    on: { 'invoice.paid': ({ id }) => say('told', id) },
    mail: { only: ['receipt'], send: ({ id }) => say('mailed', id) },
  }
}
let now = 0
const billing = createBilling({
  database,
  users: { table: 'users' },
  migrate: false,
  baseUrl: 'https://app.example.com',
  processEvery: false,
  lockLease: setting.lockLease,
  ...(setting.deliveries ? { deliveries: setting.deliveries } : {}),
  defaultProvider: setting.provider,
  ...(setting.clockAhead === undefined ? { clock: { now: () => new Date(now) } } : {}),
  logger: { error: () => undefined },
  ...(await providers[setting.provider](setting)),
  ...(setting.listens ? listening() : {}),
  ...(setting.taxesByName ? { taxPercentage: ({ name }) => taxByName(name) } : {}),
  ...setting.billing,
})

async function begin({ number, userId, type = 'user', stopAt, freezes, ...asked }) {
  /** The steps done so far, including the next one. */
  const steps = []
  const tell = (message) => report({ number, ...message })
  const user = userId === undefined ? undefined : await billing.owner(type, userId)
  try {
    await working.run({ steps, stopAt, freezes, isStopped: false, report: tell }, () =>
      doJob({ billing, report: tell }, { user, ...asked }),
    )
    tell({ done: true, steps })
  } catch (error) {
    tell({ failed: `${error.name}: ${error.message}`, steps })
  }
}

report({ ready: true })
for await (const line of createInterface({ input: process.stdin })) {
  const { at, ...job } = JSON.parse(line)
  now = at
  void begin(job)
}
process.exit(0)

// Another process of the application, with the built packages: node child.mjs <setting as JSON>.
// It takes jobs as lines of JSON, several at a time, and reports in lines of JSON.
import { AsyncLocalStorage } from 'node:async_hooks'
import { writeSync } from 'node:fs'
import http from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import { createInterface } from 'node:readline'
import { createBilling } from '@tollgate/billing'
import { connect, mysql, postgres, sqlite } from '@tollgate/database'
import { doJob, taxByName } from './killed/jobs.ts'

const setting = JSON.parse(process.argv[2])
/** Synchronously: nothing else happens between a step and its report. */
const report = (message) => writeSync(1, `${JSON.stringify(message)}\n`)

/** The job that something is done for. */
const working = new AsyncLocalStorage()

const NEVER = new Promise(() => undefined)

/**
 * The moment before an effect. True at the one where the job stops for good: whoever asks does nothing then, and the
 * process goes on with its other jobs until it is killed. If the job says so, the whole process stops here and now.
 */
function stops(what, job = working.getStore()) {
  if (!job) throw new Error(`Nobody knows for which job this is: ${what}`)
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
  // Either options, or an address before them.
  const url = args.find((each) => each instanceof URL)
  const options = args.find((each) => typeof each === 'object' && each !== url) ?? {}
  const { method = 'GET', path = url?.pathname ?? '' } = options
  // Nothing changes between an answer and the next effect: to be killed there is to be killed before that.
  if (method === 'GET' && !setting.stopsEverywhere) return send(...args)
  const what = `${method} ${path}`
  // Its host is never found, so it is never sent.
  if (stops(`before ${what}`)) return send({ host: 'nowhere', lookup: () => undefined })
  const sent = send(...args)
  return setting.stopsEverywhere ? stopAfter(what, sent) : sent
}
syncBuiltinESMExports()

/** At the stop its answer is heard by nobody. */
function stopAfter(what, sent) {
  const job = working.getStore()
  const { emit } = sent
  sent.emit = (name, ...rest) =>
    name === 'response' && stops(`after ${what}`, job) ? true : emit.call(sent, name, ...rest)
  return sent
}

const stopsBefore = ({ sql }) =>
  /^\s*(insert|update|delete)/i.test(sql) && stops(`before ${sql.slice(0, 60)}`)

/** A lease is renewed whenever its time has come, also between two steps: that is none. */
const isBeat = ({ sql }) => /^update .billing_locks. set .expires_at. =/.test(sql)

/** The same database, whose writes are steps. */
const watched = (dialect) => ({
  ...dialect,
  async open(...args) {
    const engine = await dialect.open(...args)
    return {
      ...engine,
      run: (query, values) =>
        !isBeat(query) && stopsBefore(query) ? NEVER : engine.run(query, values),
      async reserve() {
        const session = await engine.reserve()
        const run = async (query, values) => {
          if (!stopsBefore(query)) return session.run(query, values)
          // What a database sees of a process that dies: the connection is gone, and the transaction with it.
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
/** Somebody who listens, and mail. What was said stays said when the process is gone. */
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
  /** What it has done so far, or would do next. */
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

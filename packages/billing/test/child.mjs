// Another process of the application, with the built packages: node child.mjs <setting as JSON>.
// It takes one job as a line of JSON, and reports in lines of JSON.
import { AsyncLocalStorage } from 'node:async_hooks'
import { writeSync } from 'node:fs'
import http from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import { createInterface } from 'node:readline'
import { createBilling } from '@tollgate/billing'
import { connect } from '@tollgate/database'
import { doJob } from './killed/jobs.ts'

const setting = JSON.parse(process.argv[2])
/** Synchronously: nothing else happens between a step and its report. */
const report = (message) => writeSync(1, `${JSON.stringify(message)}\n`)

let stopAt = Number.POSITIVE_INFINITY
/** What was done so far, or would be next; null before the job. */
let steps = null

// A lease is renewed whenever its time has come: no step of the job.
const timer = new AsyncLocalStorage()
const { setInterval } = globalThis
globalThis.setInterval = (work, ...rest) => setInterval(() => timer.run(true, work), ...rest)

/** The moment before an effect. At the chosen one the process stops for good, to be killed. */
function step(what) {
  steps?.push(what)
  if (steps?.length !== stopAt) return
  report({ stopped: what })
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
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
  step(`before ${what}`)
  const sent = send(...args)
  return setting.stopsEverywhere
    ? sent.prependListener('response', () => step(`after ${what}`))
    : sent
}
syncBuiltinESMExports()

const database = await connect(setting.url, {
  timeout: 10_000,
  onQuery(sql) {
    if (timer.getStore()) return
    if (/^\s*(insert|update|delete)/i.test(sql)) step(`before ${sql.slice(0, 60)}`)
  },
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
    step(`before it is ${what}`)
    report({ [what]: id })
  }
  return {
    invoice: { vendor: 'Example Ltd', product: 'Gold' },
    on: { 'invoice.paid': ({ id }) => say('told', id) },
    mail: { only: ['receipt'], send: ({ id }) => say('mailed', id) },
  }
}
const billing = createBilling({
  database,
  users: { table: 'users' },
  migrate: false,
  baseUrl: 'https://app.example.com',
  processEvery: false,
  lockLease: setting.lockLease,
  ...(setting.deliveries ? { deliveries: setting.deliveries } : {}),
  defaultProvider: setting.provider,
  clock: { now: () => new Date(setting.now) },
  logger: { error: () => undefined },
  ...(await providers[setting.provider](setting)),
  ...(setting.listens ? listening() : {}),
  ...(setting.taxesByName ? { taxPercentage: ({ name }) => (name === 'Taxed' ? 20 : 0) } : {}),
  ...setting.billing,
})

report({ ready: true })
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
const { value: line } = await lines.next()
const { userId, type = 'user', ...job } = JSON.parse(line)
const user = userId === undefined ? undefined : await billing.owner(type, userId)
stopAt = job.stopAt ?? Number.POSITIVE_INFINITY
steps = []
try {
  await doJob({ billing, report }, { user, ...job })
  report({ done: true, steps })
} catch (error) {
  report({ failed: `${error.name}: ${error.message}`, steps })
}
process.exit(0)

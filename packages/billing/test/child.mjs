// Another process of the application, with the built packages: node child.mjs <setting as JSON>.
// It takes one job as a line of JSON, and reports in lines of JSON.
import { AsyncLocalStorage } from 'node:async_hooks'
import { writeSync } from 'node:fs'
import http from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import { createInterface } from 'node:readline'
import { createBilling } from '@tollgate/billing'
import { connect } from '@tollgate/database'

const setting = JSON.parse(process.argv[2])
/** Synchronously: nothing else happens between a step and its report. */
const report = (message) => writeSync(1, `${JSON.stringify(message)}\n`)

let stopAt = Number.POSITIVE_INFINITY
let steps = Number.NEGATIVE_INFINITY

// A lease is renewed whenever its time has come: no step of the job.
const timer = new AsyncLocalStorage()
const { setInterval } = globalThis
globalThis.setInterval = (work, ...rest) => setInterval(() => timer.run(true, work), ...rest)

/** The moment before an effect. At the chosen one the process stops for good, to be killed. */
function step(what) {
  steps += 1
  if (steps !== stopAt) return
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
  ...setting.billing,
})

/** JSON has no dates. */
function toDate(arg) {
  return arg?.date ? new Date(arg.date) : arg
}

/** What the tests have other processes do. Each is also what they do again afterwards. */
const jobs = {
  create: ({ user, card, plan = 'monthly' }) => user.newSubscription('main', plan).create(card),
  /** With the builder's methods, each by its name and what it is given. */
  begin({ user, card, terms }) {
    const builder = terms.reduce(
      (built, [method, ...args]) => built[method](...args.map(toDate)),
      user.newSubscription('main', 'monthly'),
    )
    return builder.create(card)
  },
  createWithCode: ({ user, card, code }) =>
    user.newSubscription('main', 'monthly').withPromotionCode(code).create(card),
  async guess({ user, codes }) {
    const guess = (code) =>
      user.findPromotionCode(code).then(
        () => 'asked',
        (error) => error.code,
      )
    report({ made: await Promise.all(codes.map(guess)) })
  },
  swap: async ({ user, plan }) => (await user.subscription('main')).swap(plan),
  swapAndInvoice: async ({ user, plan }) => (await user.subscription('main')).swapAndInvoice(plan),
  cancel: async ({ user }) => (await user.subscription('main')).cancel(),
  cancelNow: async ({ user }) => (await user.subscription('main')).cancelNow(),
  resume: async ({ user }) => (await user.subscription('main')).resume(),
  charge: ({ user, amount, key }) => user.charge(amount, { idempotencyKey: key }),
  voidInvoice: async ({ user }) => (await user.invoicesIncludingPending())[0].void(),
  creditNote: async ({ user, options }) => (await user.invoices())[0].creditNote(options),
  async use({ user, id, times = 1 }) {
    const report = () => user.reportUsage('calls', 5, { id })
    await Promise.all(Array.from({ length: times }, report))
    await billing.usage.process()
  },
  chargeUsage: () => billing.usage.process(),
  /** Any other method of the user, or of the subscription `main`. */
  async ask({ user, of = 'user', method, args = [] }) {
    const asked = of === 'user' ? user : await user.subscription('main')
    await asked[method](...args.map(toDate))
  },
  async createOften({ user, card, times }) {
    const create = () => user.newSubscription('main', 'monthly').create(card)
    const made = await Promise.all(Array.from({ length: times }, create))
    report({ made: made.map(({ providerId }) => providerId) })
  },
  tell: () => billing.events.process(),
  async receive({ path, body, headers }) {
    const request = new Request(`https://app.example.com${path}`, { method: 'POST', body, headers })
    const { status } = await billing.fetch(request)
    report({ answered: status })
    await billing.webhooks.process()
  },
}

report({ ready: true })
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
const { value: line } = await lines.next()
const { job, userId, type = 'user', ...args } = JSON.parse(line)
const user = userId === undefined ? undefined : await billing.owner(type, userId)
stopAt = args.stopAt ?? Number.POSITIVE_INFINITY
steps = 0
try {
  await jobs[job]({ user, ...args })
  report({ done: true, steps })
} catch (error) {
  report({ failed: `${error.name}: ${error.message}`, steps })
}
process.exit(0)

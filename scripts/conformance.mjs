// npm run conformance -- --suite https://localhost:8443 …: runs the plans of the OpenID Foundation's conformance
// suite, which must already be running at that URL, against Tollgate. docs/reference/conformance.md has instructions.
//
//   --suite URL     URL of the suite
//   --cert, --key   PEM files: the certificate of the server under test, and its key
//   --ca            PEM file: the authority of both certificates, the suite's and ours
//   --port N        port of the server under test (default: 9443)
//   --plan TEXT     only plans whose name and variant contain this text; can be repeated
//   --only a,b      only these modules
//   --log DIR       folder to save the whole log of every module in
//   --service       test the service instead of a server of the library
//   --report FILE   document to write the results into
//
// Ends with 1 if a module failed.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startLibrary } from './conformance/library.mjs'
import { configurationFor, plans } from './conformance/plans.mjs'
import { writeInto } from './conformance/report.mjs'
import { startService } from './conformance/service.mjs'
import { connectSuite } from './conformance/suite.mjs'

const text = { type: 'string' }
const { values: given } = parseArgs({
  options: {
    suite: text,
    cert: text,
    key: text,
    ca: text,
    port: { type: 'string', default: '9443' },
    plan: { type: 'string', multiple: true, default: [''] },
    only: text,
    log: text,
    report: text,
    service: { type: 'boolean', default: false },
  },
})
for (const name of ['suite', 'cert', 'key', 'ca']) {
  if (given[name] !== undefined) continue
  console.error(`--${name} is missing; docs/reference/conformance.md says what it is`)
  process.exit(2)
}

const LONGEST_MODULE = 180
/** Actions to take here before a waiting module continues. */
const BEFORE_START = { 'oidcc-server-rotate-keys': () => server.rotateKeys() }

/**
 * Actions to take here before a module begins. For example, a user who approved before would not be
 * asked again.
 */
const BEFORE = {
  'fapi2-security-profile-final-user-rejects-authentication': () => server.forgetApprovals(),
}

const issuer = `https://localhost:${given.port}`
const url = given.suite.replace(/\/$/, '')
const ca = readFileSync(given.ca, 'utf8')
const suite = connectSuite(url, ca)
let server = null

/** Starts a server for the plans of a profile, and stops the previous one. */
async function serverFor(profile) {
  if (server && server.profile === profile) return
  await server?.close()
  server = null
  const started = await (given.service ? startService : startLibrary)({
    issuer,
    suite: url,
    key: readFileSync(given.key),
    cert: readFileSync(given.cert),
    ca,
    profile,
  })
  server = { ...started, profile }
}

try {
  const tested = given.service ? 'service' : 'library'
  const results = { tested, version: await suite.version(), date: today(), plans: [] }
  for (const plan of chosenPlans()) results.plans.push(await runPlan(plan))
  if (given.report !== undefined) {
    writeFileSync(given.report, writeInto(readFileSync(given.report, 'utf8'), results))
  }
  const modules = results.plans.flatMap((plan) => plan.modules)
  if (modules.some(({ result }) => result === 'FAILED')) process.exitCode = 1
} finally {
  await server?.close()
}

function chosenPlans() {
  return plans.filter(
    (plan) =>
      // The service has no API for clients that act for themselves.
      !(given.service && plan.variant.fapi_profile === 'fapi_client_credentials_grant') &&
      given.plan.some((part) => labelOf(plan).includes(part)),
  )
}

async function runPlan(plan) {
  await serverFor(plan.profile)
  const clients = await server.createClients(plan)
  const configuration = configurationFor({ issuer, suite: url, server, clients, plan })
  const { id, modules } = await suite.createPlan(plan.name, plan.variant, configuration)
  console.log(`\n${labelOf(plan)}`)
  const only = given.only?.split(',')
  const chosen = modules.filter(({ testModule }) => !only || only.includes(testModule))
  const found = []
  for (const entry of chosen) found.push(await runModule(id, entry))
  return { ...plan, modules: found }
}

async function runModule(planId, entry) {
  const name = entry.testModule
  await BEFORE[name]?.()
  const run = await suite.runModule(planId, entry, {
    seconds: LONGEST_MODULE,
    beforeStart: BEFORE_START[name],
  })
  if (given.log !== undefined) {
    mkdirSync(given.log, { recursive: true })
    writeFileSync(join(given.log, `${name}.${run.id}.json`), JSON.stringify(run.log, null, 1))
  }
  const bad = run.log.filter(({ result }) => result === 'FAILURE' || result === 'WARNING')
  console.log(`${run.result.padEnd(8)} ${name}  ${run.seconds.toFixed(1)} s ${run.note ?? ''}`)
  for (const { result, src, msg, error } of bad) {
    console.log(`         ${result} ${src}: ${oneLine(msg ?? error ?? '').slice(0, 300)}`)
  }
  return { name, result: run.result, remark: remarkOf(run, bad) }
}

/** Explains why a module did not simply pass. */
function remarkOf({ result, log, note }, bad) {
  if (bad.length > 0) return bad.map(({ src, msg }) => `${src}: ${oneLine(msg ?? '')}`).join('; ')
  if (result === 'SKIPPED')
    return oneLine(log.findLast((entry) => entry.result === 'SKIPPED')?.msg ?? '')
  if (result === 'REVIEW') return 'nothing failed; a person has to review the screenshot of a page'
  return note ?? ''
}

function oneLine(message) {
  return String(message).replace(/\s+/g, ' ')
}

function labelOf({ name, variant }) {
  return `${name}${Object.entries(variant)
    .map(([key, value]) => `[${key}=${value}]`)
    .join('')}`
}

function today() {
  return new Date().toISOString().slice(0, 10)
}

// Runs third-party clients, unmodified, against the sandbox and prints a table of the results. They
// are not part of this repository: each one is installed from its registry into a temporary folder.
// A client is skipped with a message if its language is not installed.
//
//   npm run clients -w @tollgate/sandbox [-- [--clock=-10m] name …]
//
// --clock moves the sandbox's clock back or ahead (minutes or days: -10m, 365d). Webhooks are signed
// with the real time, so clients must accept them whatever the sandbox's clock shows.
//
// A name is a client (`dj-stripe`) or a client with its version (`stripe-go@85`). The script uses
// the built sandbox (`dist`), one process per client. The table in
// docs/reference/sandbox-clients.md is its output.
import { CLIENTS } from './clients/all-clients.mjs'
import { findMissing } from './clients/processes.mjs'
import { tryClient } from './clients/try-client.mjs'

const given = process.argv.slice(2)
const clock = given.find((word) => word.startsWith('--clock='))?.slice('--clock='.length)
const names = given.filter((word) => !word.startsWith('--clock='))
const flags = clock === undefined ? undefined : ['--now', timeAt(clock)]
const rows = []
for (const client of CLIENTS) {
  const versions = client.versions.filter((version) => isAskedFor(client.name, version))
  if (versions.length === 0) continue
  const missing = findMissing(client.needs)
  if (missing !== null) {
    rows.push([client.name, '', '', `left out: there is no ${missing} here`])
    continue
  }
  for (const version of versions) rows.push(await runOne(client, version))
}
if (rows.length === 0) throw new Error(`There is no client called ${names.join(' or ')}`)
const table = [
  ['client', 'version', '`Stripe-Version`', 'what it did'],
  ['---', '---', '---', '---'],
]
for (const row of [...table, ...rows]) process.stdout.write(`| ${row.join(' | ')} |\n`)
if (rows.some(([, , , did]) => did.startsWith('**'))) process.exitCode = 1

/** Returns the real time moved by `-10m` or `365d`. */
function timeAt(text) {
  const [, count, unit] = /^(-?\d+)([md])$/.exec(text) ?? []
  if (unit === undefined)
    throw new Error(`--clock takes minutes or days, such as -10m; not ${text}`)
  const minutes = Number(count) * (unit === 'd' ? 1440 : 1)
  return new Date(Date.now() + minutes * 60_000).toISOString()
}

function isAskedFor(name, version) {
  return names.length === 0 || names.includes(name) || names.includes(`${name}@${version}`)
}

async function runOne(client, version) {
  process.stderr.write(`${client.name} ${version}\n`)
  const { facts, done, failure } = await tryClient(client, version, flags)
  for (const step of done) process.stderr.write(`  ok  ${step}\n`)
  if (failure !== null) process.stderr.write(`  NOT ${failure}\n`)
  const did = failure === null ? done.join(', ') : `**not after ${done.length} steps**`
  return [client.name, facts.version ?? version, facts.speaks ?? '', did]
}

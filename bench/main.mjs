import { execFileSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { measureCopies } from './copies.mjs'
import { canPin, pinLoad } from './cores.mjs'
import { openDatabases } from './databases.mjs'
import { measureFlatness } from './flatness.mjs'
import { measureFrameworks } from './frameworks.mjs'
import { estimateMinutes, fitRounds } from './length.mjs'
import { parseOptions, usage } from './options.mjs'
import { formatReport } from './report.mjs'
import { guardedRows, openidRows, serverRows } from './rows.mjs'

/** @param {string[]} argv */
export async function main(argv) {
  const options = parseOptions(argv)
  if (options.help) return console.log(usage)
  pinLoad()
  const databases = openDatabases(options.data)
  const subjects = chooseSubjects(options)
  const settings = { ...options, ...subjects }
  const planned = planRows(settings)
  const run = { ...settings, entries: planned.map(({ entries }) => entries.length) }
  const rounds = options.hasOwnRounds ? options.pace.rounds : fitRounds(run)
  const pace = { ...options.pace, rounds }
  announceLength(rounds, estimateMinutes({ ...run, pace }))
  const context = { ...settings, pace, databases, createDatabase: databases.create }
  const started = performance.now()
  const { byProcessor, beside } = options
  const results = {
    machine: describeMachine(),
    byProcessor,
    data: databases.place,
    before: beside && commitOf(beside),
    servers: [],
    guarded: [],
    openid: [],
  }
  const save = () => {
    results.minutes = (performance.now() - started) / 60_000
    if (options.json) writeFileSync(options.json, `${JSON.stringify(results, null, 2)}\n`)
  }
  try {
    for (const { section, row, entries } of planned) {
      results[section].push({ row, cells: await measureCopies(entries, context) })
      announce(row.label, started)
      save()
    }
    if (options.wants('frameworks')) {
      results.frameworks = await measureFrameworks(context)
      announce('frameworks', started)
    }
    if (options.wants('flatness'))
      results.flatness = await measureFlatness(context, (label) => announce(label, started))
  } finally {
    await databases.close()
  }
  save()
  const report = formatReport(results)
  console.log(report)
  if (options.isWhole) writeFileSync(new URL('RESULTS.md', import.meta.url), asPage(report))
}

/** Writes the last complete run as a page, which is committed. */
function asPage(report) {
  const day = new Date().toISOString().slice(0, 10)
  return `# The last whole run of \`npm run bench\`

${day}. How to read it: [README.md](README.md).

\`\`\`
${report}
\`\`\`
`
}

/** Selects the subjects. Tollgate is included if it has been built. */
function chooseSubjects({ hasSubject }) {
  const built = new URL('../packages/oauth/dist/index.js', import.meta.url)
  const written = new URL('./subjects/tollgate.mjs', import.meta.url)
  const hasTollgate = hasSubject('tollgate') && existsSync(built) && existsSync(written)
  return {
    hasSubject,
    own: [...(hasSubject('limit') ? ['limit'] : []), ...(hasTollgate ? ['tollgate'] : [])],
  }
}

/** Selects the rows, with the servers that each of them compares. */
function planRows(settings) {
  const plan = (section, rows, groupOf, list) =>
    rows
      .filter((row) => settings.wants(groupOf(row)) && !(settings.quick && row.slow))
      .map((row) => ({ section, row, entries: list(row, settings) }))
  const workloadOf = ({ workload }) => workload
  return [
    ...plan('servers', serverRows, workloadOf, listEntries),
    ...plan('guarded', guardedRows, workloadOf, listEntries),
    ...plan('openid', openidRows, () => 'openid', listPeers),
  ]
}

function listEntries(row, { hasSubject, own, beside }) {
  const peers = row.peers.filter(hasSubject)
  const [limit] = own.filter((subject) => subject === 'limit')
  const order = ['floor', limit, ...peers, ...own.filter((subject) => subject === 'tollgate')]
  const entries = order.filter(Boolean).map((subject) => ({ column: subject, subject, row }))
  if (!beside) return entries
  // The other checkout's own setup, because options and names may have changed since.
  const folder = pathToFileURL(join(beside, 'bench')).href
  return [...entries, { column: 'before', subject: 'tollgate', folder, row }]
}

/** Lists the servers of a row that has neither floor nor limit. */
function listPeers(row, context) {
  const entries = listEntries(row, context)
  return entries.filter(({ column }) => !['floor', 'limit', 'before'].includes(column))
}

function announceLength(rounds, minutes) {
  process.stderr.write(`${rounds} rounds, about ${Math.ceil(minutes)} minutes on a quiet machine\n`)
}

function commitOf(folder) {
  const short = ['-C', folder, 'rev-parse', '--short', 'HEAD']
  return execFileSync('git', short, { encoding: 'utf8' }).trim()
}

function announce(label, started) {
  const seconds = Math.round((performance.now() - started) / 1000)
  process.stderr.write(`${String(seconds).padStart(5)} s  ${label}\n`)
}

function describeMachine() {
  const [cpu] = cpus()
  return {
    node: process.version,
    arch: process.arch,
    cpu: cpu?.model ?? 'unknown',
    cores: cpus().length,
    pinned: canPin,
  }
}

/**
 * `npm run bench:tricks`: disables each optimization in a copy, and compares it with the original.
 * Prints by how much a row would be slower without it. Rows on Postgres are measured as in `npm run
 * bench`. Rows in memory are served within a process, because small differences would be hidden by
 * the cost of the network; `--bare`, the cost of a request to the floor, is added before they are
 * compared.
 */
import { fork } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { benchOf, copyBuilt, root } from '../built-copy.mjs'
import { measureCopies } from '../copies.mjs'
import { pinLoad } from '../cores.mjs'
import { openDatabases } from '../databases.mjs'
import { formatTable } from '../format-table.mjs'
import { guardedRows, serverRows } from '../rows.mjs'
import { listCalls, tricks } from './list.mjs'

/** An optimization with a smaller factor is not worth its explanation and should be removed. */
const WORTH_IT = 1.03
const COPIES = 3

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    rounds: { type: 'string', default: '16' },
    patience: { type: 'string', default: '1' },
    by: { type: 'string', default: 'processor' },
    bare: { type: 'string', default: '45' },
  },
})

pinLoad()
const databases = openDatabases()
const context = {
  pace: {
    leadIn: 0.1,
    seconds: 0.25,
    rounds: Number(options.rounds),
    warmUp: { units: 15_000, atMost: 2 },
  },
  patience: Number(options.patience),
  byProcessor: options.by === 'processor',
  createDatabase: databases.create,
}
/** Microseconds per request to the floor, which requests within a process do not include. */
const bare = Number(options.bare)
const lines = []
const isWanted = ({ name, row }) => `${name} ${row}`.includes(options.only)
for (const trick of tricks.filter(isWanted)) {
  const row = [...serverRows, ...guardedRows].find(({ label }) => label === trick.row)
  const plain = copyWithout(trick)
  const cells = row.store === 'memory' ? await serveBoth(row, plain) : await measureBoth(row, plain)
  rmSync(plain, { recursive: true })
  const gain = cells.with.of?.without
  const shown = (cell) => (cell.error ? cell.error.slice(0, 60) : cell.microseconds.toFixed(0))
  const verdict = gain ? (gain >= WORTH_IT ? 'yes' : 'no') : ''
  lines.push([
    trick.name,
    trick.row,
    shown(cells.without),
    shown(cells.with),
    gain?.toFixed(3) ?? '',
    verdict,
  ])
  process.stderr.write(`${lines.at(-1).join(' | ')}\n`)
}
const at = (path) => pathToFileURL(join(root, 'packages', path)).href
for (const { name, ours, plain } of await listCalls(at)) {
  if (!isWanted({ name, row: 'calls' })) continue
  const [quick, slow] = timeBoth(ours, plain)
  const gain = slow / quick
  const verdict = gain >= WORTH_IT ? 'yes' : 'no'
  lines.push([name, 'one call', slow.toFixed(2), quick.toFixed(2), gain.toFixed(3), verdict])
}
await databases.close()
console.log(formatTable(['trick', 'row', 'µs without', 'µs with', 'faster by', 'worth it?'], lines))
process.exit()

/**
 * Measures the microseconds per call of each, from the least disturbed tenth of many short
 * alternating slices.
 */
function timeBoth(...calls) {
  const slices = calls.map(() => [])
  for (let slice = 0; slice < 500; slice++)
    calls.forEach((call, which) => {
      const before = performance.now()
      for (let time = 0; time < 100; time++) call()
      slices[which].push((performance.now() - before) * 10)
    })
  return slices.map((times) => times.sort((a, b) => a - b)[50])
}

function measureBoth(row, plain) {
  const folder = benchOf(plain)
  const entries = [
    { column: 'with', subject: 'tollgate', row },
    { column: 'without', subject: 'tollgate', folder, row },
  ]
  return measureCopies(entries, context)
}

/** Serves both alternately several times and uses the least disturbed result. */
async function serveBoth(row, plain) {
  const times = { with: [], without: [] }
  for (let copy = 0; copy < COPIES; copy++) {
    times.with.push(await serve(row, benchOf(root)))
    times.without.push(await serve(row, benchOf(plain)))
  }
  const [quick, slow] = [Math.min(...times.with) + bare, Math.min(...times.without) + bare]
  return {
    with: { microseconds: quick, of: { without: slow / quick } },
    without: { microseconds: slow },
  }
}

function serve(row, folder) {
  const child = fork(fileURLToPath(new URL('./in-process.mjs', import.meta.url)), [
    JSON.stringify({ folder, row }),
  ])
  return new Promise((resolve, reject) => {
    child.once('message', resolve)
    child.once('exit', (code) => reject(new Error(`A server ended with ${code}`)))
  })
}

/** Copies the built packages without one optimization. */
function copyWithout({ name, file, without }) {
  const folder = copyBuilt()
  const path = join(folder, 'packages', file)
  let text = readFileSync(path, 'utf8')
  for (const [found, plain] of without) {
    if (!text.includes(found)) throw new Error(`${name}: ${file} has no ${found}`)
    text = text.replace(found, () => plain)
  }
  writeFileSync(path, text)
  return folder
}

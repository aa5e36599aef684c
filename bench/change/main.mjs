/**
 * `npm run bench:change -- --beside ../before`: measures the effect of a change on each row of the
 * token endpoints and the guards. The checkout before the change, this one, and a copy of this one
 * serve the same requests within one process, in short alternating slices, and their processor time
 * is compared slice by slice. The column `itself` compares this checkout with its copy: results
 * that are as close to 1 are noise.
 */
import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { benchOf, copyBuilt, root } from '../built-copy.mjs'
import { pinLoad, serverCommand } from '../cores.mjs'
import { openDatabases } from '../databases.mjs'
import { formatTable } from '../format-table.mjs'
import { mean } from '../measure.mjs'
import { guardedRows, serverRows } from '../rows.mjs'

const { values: options } = parseArgs({
  options: {
    beside: { type: 'string' },
    only: { type: 'string', default: '' },
    data: { type: 'string' },
    processes: { type: 'string', default: '3' },
    slices: { type: 'string', default: '60' },
  },
})
if (!options.beside) throw new TypeError('--beside names another checkout of Tollgate, built')

// Postgres is a child of this process, so it does not use the core of the server under test.
pinLoad()
const databases = openDatabases(options.data && resolve(options.data))
const copy = copyBuilt()
const subjects = {
  before: benchOf(resolve(options.beside)),
  now: benchOf(root),
  again: benchOf(copy),
}
const lines = []
for (const row of [...serverRows, ...guardedRows].filter(({ label }) =>
  label.includes(options.only),
)) {
  const runs = []
  for (let run = 0; run < Number(options.processes); run++) runs.push(await compare(row))
  const all = (read) => runs.map(read)
  lines.push([
    row.label,
    mean(all(({ before }) => before)).toFixed(0),
    mean(all(({ now }) => now)).toFixed(0),
    mean(all(({ faster }) => faster)).toFixed(2),
    all(({ faster }) => faster.toFixed(2)).join(' '),
    all(({ itself }) => itself.toFixed(2)).join(' '),
  ])
  process.stderr.write(`${lines.at(-1).join(' | ')}\n`)
}
await databases.close()
rmSync(copy, { recursive: true })
console.log(
  formatTable(['row', 'µs before', 'µs now', 'as times before', 'by process', 'itself'], lines),
)
process.exit()

/**
 * Compares in a separate process for each row, because one row affects how the code is optimized
 * for the next.
 */
async function compare(row) {
  const urls = {}
  for (const name of Object.keys(subjects)) urls[name] = await databases.create(row.store)
  const task = { subjects, urls, row, slices: Number(options.slices) }
  const path = fileURLToPath(new URL('./compare.mjs', import.meta.url))
  const [command, args] = serverCommand([path, JSON.stringify(task)])
  const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  return new Promise((done, failed) => {
    child.once('message', done)
    child.once('exit', (code) => failed(new Error(`${row.label}: a process ended with ${code}`)))
  })
}

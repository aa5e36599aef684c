// npm run mutants [-- word …] [--write]: makes deliberate mistakes in the sources that decide about
// trust or money, one at a time, and runs the tests listed for each in scripts/mutants/files.mjs. A
// mistake that no test notices must be listed in scripts/mutants/survivors.json with a reason. Ends
// with 1 for any other survivor, and for a listed one that a test notices. Words select files;
// --write updates the list.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { FILES } from './mutants/files.mjs'
import { makeMutants } from './mutants/make.mjs'
import { prepare } from './prepare.mjs'

const LIST = 'scripts/mutants/survivors.json'
const NO_REASON = 'TODO'
/** Milliseconds for the tests of one mutant. A mistake may create an endless loop. */
const LONGEST = 240_000

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { write: { type: 'boolean' } },
})
const prepared = await prepare()
if (prepared) process.exit(prepared)

const isWanted = (file) =>
  positionals.length === 0 || positionals.some((each) => file.includes(each))
const chosen = Object.keys(FILES).filter(isWanted)
const listed = JSON.parse(readFileSync(LIST, 'utf8'))
let runner = null

async function startRunner() {
  const stdio = ['ignore', 'ignore', 'inherit', 'ipc']
  // A separate process group, so that an endless mistake is killed together with its worker.
  const child = fork('scripts/mutants/runner.mjs', { stdio, detached: true })
  child.once('exit', (code) => {
    if (code) throw new Error('The tests cannot be run, see above')
  })
  await once(child, 'message')
  return child
}

/** Whether the tests of a file pass with this text instead of its own. */
async function passes(file, text) {
  runner ??= await startRunner()
  runner.send({ source: resolve(file), text, tests: FILES[file].map((test) => resolve(test)) })
  const signal = AbortSignal.timeout(LONGEST)
  const [answer] = await once(runner, 'message', { signal }).catch(() => [null])
  if (answer) return answer.passes
  process.kill(-runner.pid, 'SIGKILL')
  runner = null
  return false
}

const survivors = []
const broken = []
let count = 0
for (const file of chosen) {
  const text = readFileSync(file, 'utf8')
  const mutants = makeMutants(text)
  count += mutants.length
  console.log(`${file}: ${mutants.length} mistakes`)
  const isWell = await passes(file, text)
  for (const mutant of isWell ? mutants : []) {
    if (!(await passes(file, mutant.text))) continue
    survivors.push({ file, ...mutant })
    console.log(`  ${mutant.line}: ${mutant.was}\n    survives as ${mutant.became || 'nothing'}`)
  }
  // Checked again afterwards: tests that fail for another reason would seem to notice every
  // mistake.
  if (!isWell || !(await passes(file, text))) broken.push(file)
}
runner?.disconnect()

const keyOf = ({ file, was, became }) => JSON.stringify([file, was, became])
const reasons = new Map(listed.map((each) => [keyOf(each), each.why]))
const alive = new Set(survivors.map(keyOf))
const unexplained = survivors.filter(
  (each) => (reasons.get(keyOf(each)) ?? NO_REASON) === NO_REASON,
)
const over = listed.filter((each) => chosen.includes(each.file) && !alive.has(keyOf(each)))

if (values.write) {
  const others = listed.filter(({ file }) => !chosen.includes(file))
  const found = survivors.map(({ file, was, became }) => {
    const why = reasons.get(keyOf({ file, was, became })) ?? NO_REASON
    return { file, was, became, why }
  })
  const all = [...others, ...found].sort((a, b) => keyOf(a).localeCompare(keyOf(b)))
  writeFileSync(LIST, `${JSON.stringify(all, null, 2)}\n`)
}
for (const file of broken) console.error(`The tests of ${file} fail without any mistake`)
for (const { file, line, was } of unexplained) console.error(`Unnoticed: ${file}:${line} ${was}`)
for (const { file, was } of over) console.error(`Noticed by now, so not in ${LIST}: ${file} ${was}`)
console.log(`${count - survivors.length} of ${count} mistakes are noticed`)
process.exitCode = broken.length + unexplained.length + over.length === 0 ? 0 : 1

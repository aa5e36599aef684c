// npm run histories [-- --runs 10000 --seed 1]: generates random lives of subscriptions, half of
// them at each provider, and a quarter as many with refunds, and compares them with the provider's
// own objects. Ends with 1 and the shortest counterexample if one differs. The same seed generates
// the same lives.
import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { prepare } from './prepare.mjs'

const { values } = parseArgs({
  options: { runs: { type: 'string', default: '10000' }, seed: { type: 'string' } },
})
const runs = Number(values.runs)
const seed = Number(values.seed ?? randomInt(2 ** 31))
if (!Number.isSafeInteger(runs) || runs < 2 || !Number.isSafeInteger(seed)) {
  throw new TypeError('Expected whole numbers, e.g. --runs 10000 --seed 1')
}

/** Starts one process for each provider, to use two cores. */
function live(provider) {
  const args = ['vitest', 'run', '--project', 'slow', '--reporter=dot', '-t', provider]
  const files = [
    'packages/billing/test/histories.test.ts',
    'packages/billing/src/features/proration/test/money-back-lives.test.ts',
  ]
  const child = spawn('npx', [...args, ...files], {
    stdio: 'inherit',
    env: { ...process.env, HISTORIES: String(Math.ceil(runs / 2)), HISTORIES_SEED: String(seed) },
  })
  return new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1)))
}

const prepared = await prepare()
if (prepared) process.exit(prepared)
console.log(`${runs} histories with seed ${seed}`)
const began = performance.now()
const codes = await Promise.all(['stripe', 'braintree'].map(live))
const isWell = codes.every((code) => code === 0)
const seconds = Math.round((performance.now() - began) / 1000)
console.log(
  isWell
    ? `All ${runs} histories end as the provider has it: seed ${seed}, ${seconds} s`
    : `A history went wrong, see above; again with: npm run histories -- --runs ${runs} --seed ${seed}`,
)
process.exitCode = isWell ? 0 : 1

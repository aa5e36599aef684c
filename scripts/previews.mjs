// npm run previews: compares every row of the tables that check "a preview equals the charge", at
// both providers. The everyday tests use rows that cover every pair of values; here there are
// thousands, for half an hour.
import { spawn } from 'node:child_process'
import { prepare } from './prepare.mjs'

const FILES = [
  'packages/billing/src/features/swap/test/previews.test.ts',
  'packages/billing/src/features/forecasts/test/previewed-invoices.test.ts',
]

/** Starts one process for each provider, to use two cores. */
function compare(provider) {
  const args = ['vitest', 'run', '--project', 'slow', '--reporter=dot', '-t', provider]
  const child = spawn('npx', [...args, ...FILES], {
    stdio: 'inherit',
    env: { ...process.env, PREVIEWS: 'all' },
  })
  return new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1)))
}

const prepared = await prepare()
if (prepared) process.exit(prepared)
const codes = await Promise.all(['stripe', 'braintree'].map(compare))
process.exitCode = codes.every((code) => code === 0) ? 0 : 1

// npm run previews: every row of the tables "a preview is what is charged", at both providers. The
// everyday tests take rows that have every two values together; these are thousands, for half an hour.
import { spawn } from 'node:child_process'
import { prepare } from './prepare.mjs'

const FILES = ['previews', 'previews-of-bills'].map(
  (name) => `packages/billing/test/${name}.test.ts`,
)

/** A process for each provider: they use two cores where there are two. */
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

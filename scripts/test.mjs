// npm test: installs what is missing, builds, runs the quick tests, and ends with one plain line of counts.
// With --rest it runs the others instead (npm run test:rest), with --all both (npm run test:all).
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { prepare, step } from './prepare.mjs'

/** Projects of vitest.config.ts. */
const QUICK = ['unit', 'sandbox', 'sqlite']
const REST = ['slow', 'postgres', 'mariadb', 'chromium']
const CHOICES = new Map([
  ['--rest', REST],
  ['--all', [...QUICK, ...REST]],
])

/** What vitest is given: the projects of this command, unless the caller names some. */
function chooseTests([first, ...others]) {
  const chosen = CHOICES.get(first)
  const args = chosen ? others : [first, ...others].filter((arg) => arg !== undefined)
  if (args.some((arg) => /^--project\b/.test(arg))) return args
  // The other tests wait a lot, for leases and time-outs: three at once keep two cores busy.
  const workers = chosen === REST ? ['--maxWorkers=3'] : []
  return [...(chosen ?? QUICK).flatMap((name) => ['--project', name]), ...workers, ...args]
}

async function test(args) {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-test-'))
  const report = join(folder, 'report.json')
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  const status = await step('Running the tests', 'npx', ['vitest', 'run', ...reporters, ...args])
  try {
    const { numPassedTests, numFailedTests, numPendingTests, numTodoTests } = JSON.parse(
      readFileSync(report, 'utf8'),
    )
    const skipped = numPendingTests + numTodoTests
    console.log(`${numPassedTests} passed, ${numFailedTests} failed, ${skipped} skipped`)
  } catch {
    console.log('The tests ended without a report')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  return status
}

process.exitCode = (await prepare()) || (await test(chooseTests(process.argv.slice(2))))

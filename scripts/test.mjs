// npm test: installs what is missing, builds, runs every test, and ends with one plain line of counts.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { prepare, step } from './prepare.mjs'

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

process.exitCode = (await prepare()) || (await test(process.argv.slice(2)))

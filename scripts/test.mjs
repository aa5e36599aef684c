// npm test: installs what is missing, builds, runs the quick tests, and ends with one plain line of counts.
// With --rest it runs the others instead (npm run test:rest), with --all both (npm run test:all). With
// --again after that, files with a failure run once more by themselves, and what failed twice has failed.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { prepare, step } from './prepare.mjs'
import { emptyRecords } from './statements/records.mjs'

/** Projects of vitest.config.ts. */
const QUICK = ['unit', 'sandbox', 'sqlite']
const REST = ['slow', 'postgres', 'mariadb', 'chromium']
const CHOICES = new Map([
  ['--rest', REST],
  ['--all', [...QUICK, ...REST]],
])
/** A busy machine spoils a few files; more than this have another cause. */
const FEW = 12

/** Of this run only: the report, and what was compiled for one project, which the next one imports, too. */
const folder = mkdtempSync(join(tmpdir(), 'tollgate-test-'))
const REPORT = join(folder, 'report.json')
process.env.TEST_REPORT = REPORT
process.env.TEST_COMPILED ??= join(folder, 'compiled')

/** What vitest is given: the projects of this command, unless the caller names some. */
function chooseTests(chosen, args) {
  if (args.some((arg) => /^--project\b/.test(arg))) return args
  return [...(chosen ?? QUICK).flatMap((name) => ['--project', name]), ...args]
}

/** The projects that vitest is given by name. */
function projectsIn(args) {
  return [...QUICK, ...REST].filter((name) =>
    args.some(
      (arg, at) => arg === `--project=${name}` || (arg === name && args[at - 1] === '--project'),
    ),
  )
}

/** Runs vitest, says in short what failed, and gives its exit code with the failures; null without a report. */
async function run(title, args) {
  rmSync(REPORT, { force: true })
  const reporters = ['--reporter=default', '--reporter=./scripts/test-reporter.mjs']
  const status = await step(title, 'npx', ['vitest', 'run', ...reporters, ...args])
  try {
    const { counts, failures } = JSON.parse(readFileSync(REPORT, 'utf8'))
    for (const { project, file, test, why } of failures) {
      console.log(`FAILED ${[project, file, test].filter(Boolean).join(' > ')}: ${why}`)
    }
    const skipped = counts.skipped + counts.pending
    console.log(`${counts.passed} passed, ${counts.failed} failed, ${skipped} skipped`)
    return { status, failures }
  } catch {
    console.log('The tests ended without a report')
    return { status: status || 1, failures: null }
  }
}

/** The exit code of a second run of the files with a failure, each project by itself and one file at a time. */
async function runAgain(failures) {
  const files = new Map()
  for (const { project, file } of failures) {
    if (project) files.set(project, (files.get(project) ?? new Set()).add(file))
  }
  const spoilt = new Set([...files.values()].flatMap((names) => [...names]))
  const others = failures.filter(({ project, file }) => !project && !spoilt.has(file))
  if (others.length || spoilt.size === 0 || spoilt.size > FEW) return 1
  let failed = 0
  for (const [project, names] of files) {
    const title = `Once more, by themselves: ${names.size} of ${project}`
    const { status } = await run(title, ['--project', project, '--maxWorkers=1', ...names])
    failed ||= status
  }
  if (!failed)
    console.log(`Passed by themselves, though not beside others: ${[...spoilt].join(', ')}`)
  return failed
}

async function test(args) {
  const again = args.includes('--again')
  const [first, ...others] = args.filter((arg) => arg !== '--again')
  const chosen = CHOICES.get(first)
  const given = chosen ? others : [first, ...others].filter((arg) => arg !== undefined)
  const tests = chooseTests(chosen, given)
  const { TEST_STATEMENTS } = process.env
  if (TEST_STATEMENTS) emptyRecords(TEST_STATEMENTS, projectsIn(tests))
  const { status, failures } = await run('Running the tests', tests)
  return status && again && failures ? runAgain(failures) : status
}

try {
  process.exitCode = (await prepare()) || (await test(process.argv.slice(2)))
} finally {
  rmSync(folder, { recursive: true, force: true })
}

// npm test: installs missing packages, builds, runs the quick tests, and ends with a single line of
// counts. With --rest it runs the other tests instead (npm run test:rest), with --all both (npm run
// test:all). With --again in addition, files with a failure run a second time on their own, and
// only tests that fail twice count as failed. The last line then says how many files needed that.
import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
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
/**
 * Largest number of files to run again. A busy machine makes a few files fail; more failures have
 * another cause.
 */
const FEW = 12

const CACHE = 'node_modules/.cache/tollgate-tests'
/**
 * Largest number of compiled files to keep. Compiling every source and test once creates about
 * 2,000.
 */
const MAX_COMPILED = 20_000

const folder = mkdtempSync(join(tmpdir(), 'tollgate-test-'))
const REPORT = join(folder, 'report.json')
process.env.TEST_REPORT = REPORT
process.env.TEST_COMPILED ??= findCompiled()

/**
 * Finds the folder where vitest keeps compiled files between runs, by a hash of their text. A
 * change of the dependencies or of vitest's configuration starts a new folder, and so does one that
 * has grown too large.
 */
function findCompiled() {
  const hash = createHash('sha256')
  for (const file of ['package-lock.json', 'vitest.config.ts']) hash.update(readFileSync(file))
  const current = `compiled-${hash.digest('hex').slice(0, 16)}`
  for (const name of listFiles(CACHE)) {
    const isOld = name.startsWith('compiled-') && name !== current
    if (isOld || (name === current && listFiles(join(CACHE, name)).length > MAX_COMPILED)) {
      rmSync(join(CACHE, name), { recursive: true, force: true })
    }
  }
  return join(process.cwd(), CACHE, current)
}

function listFiles(path) {
  try {
    return readdirSync(path)
  } catch {
    return [] // nothing has been compiled yet
  }
}

/** Returns the arguments for vitest: the projects of this command, unless the caller names some. */
function chooseTests(chosen, args) {
  if (args.some((arg) => /^--project\b/.test(arg))) return args
  return [...(chosen ?? QUICK).flatMap((name) => ['--project', name]), ...args]
}

/** Returns the projects that the arguments name. */
function projectsIn(args) {
  return [...QUICK, ...REST].filter((name) =>
    args.some(
      (arg, at) => arg === `--project=${name}` || (arg === name && args[at - 1] === '--project'),
    ),
  )
}

/**
 * Runs vitest and prints a summary of the failures. Returns its exit code with the failures, which
 * are `null` without a report.
 */
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

/**
 * Runs the files with a failure again, each project on its own and one file at a time. Returns the
 * exit code.
 */
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
  const verdict = failed ? 'and at least one failed again' : 'and all of them passed'
  console.log(
    `SECOND RUN: ${spoilt.size} test file(s) needed one, ${verdict}: ${[...spoilt].join(', ')}`,
  )
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

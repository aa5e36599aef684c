import { fileURLToPath } from 'node:url'
import { defineConfig, type TestProjectConfiguration } from 'vitest/config'
import { findChromium } from './test-support/find-chromium.ts'
import { LongestFirst } from './test-support/longest-first.ts'
import { mutantPlugin } from './test-support/mutant-plugin.ts'
import { IN_CHROMIUM, SLOW, SQLITE_IS_ENOUGH } from './test-support/where-tests-run.ts'

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))

/** Tests run against the sources, as one program; only child processes use what was built. */
const alias = [
  { find: /^@tollgate\/(\w+)$/, replacement: path('./packages/$1/src/index.ts') },
  { find: /^@tollgate\/(\w+)\/testing$/, replacement: path('./packages/$1/src/testing/index.ts') },
  {
    find: /^@tollgate\/(oauth|billing)\/(\w+)$/,
    replacement: path('./packages/$1/src/adapters/$2.ts'),
  },
  {
    find: /^@tollgate\/http\/outgoing$/,
    replacement: path('./packages/http/src/outgoing/index.ts'),
  },
  { find: /^@tollgate\/http\/(\w+)$/, replacement: path('./packages/http/src/mount/$1.ts') },
]

const FLOWS = 'packages/*/test/**/*.test.ts'
const SANDBOX = 'packages/sandbox/test/**/*.test.ts'

let projects = 0

interface Project {
  readonly name: string
  readonly include: readonly string[]
  readonly exclude?: readonly string[]
  readonly database?: 'sqlite' | 'postgres' | 'mariadb'
  /** Files at once; default: 2, for two cores, because a third process costs more to start than it saves. Where servers, leases and browsers are waited for, more. */
  readonly workers?: number
}

/** Whoever says how many wants so many. */
const saysWorkers = process.argv.some((argument) => /^--max-?workers\b/i.test(argument))

function createProject({
  name,
  include,
  exclude = [],
  database,
  workers = 2,
}: Project): TestProjectConfiguration {
  return {
    resolve: { alias },
    plugins: [mutantPlugin],
    test: {
      name,
      include: [...include],
      exclude: ['**/node_modules/**', '**/dist/**', ...exclude],
      env: database ? { TEST_DATABASE: database, TEST_PROJECT: name } : {},
      globalSetup: database ? [`./test-support/${database}-setup.ts`] : [],
      setupFiles:
        database && process.env.TEST_STATEMENTS ? ['./test-support/statements/setup.ts'] : [],
      // Files share a process and what they import, which takes longer than most tests do.
      isolate: false,
      ...(saysWorkers ? {} : { maxWorkers: workers }),
      // One project after the other, because a process serves one project.
      sequence: { groupOrder: projects++ },
      // Machines that run tests are busy: whoever waits for something waits long enough.
      expect: { poll: { timeout: 20_000 } },
      testTimeout: 180_000,
      hookTimeout: 180_000,
    },
  }
}

/** Whether the command names this project, or none. */
function isWanted(name: string): boolean {
  const command = process.argv.join(' ')
  return !command.includes('--project') || command.includes(name)
}

const withMariadb = Boolean(process.env.TEST_MYSQL_URL)
if (!withMariadb && isWanted('mariadb')) {
  console.log('MariaDB is left out: set TEST_MYSQL_URL=mysql://root@127.0.0.1:3306, or use .ci/run')
}
if (findChromium() === null && isWanted('chromium')) {
  console.log(
    'Chromium is left out: install chromium, set CHROMIUM_PATH=/usr/bin/chromium, or use .ci/run',
  )
}

/** What talks SQL, on one database. */
function createFlows(name: 'sqlite' | 'postgres' | 'mariadb', exclude: readonly string[]) {
  const elsewhere = [SANDBOX, ...IN_CHROMIUM]
  return createProject({
    name,
    include: [FLOWS],
    exclude: [...elsewhere, ...exclude],
    database: name,
    workers: name === 'sqlite' ? 2 : 4,
  })
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    // Seven projects import the same sources: with a folder of its own, one run of them all compiles each file once.
    experimental: process.env.TEST_COMPILED
      ? { fsModuleCache: true, fsModuleCachePath: process.env.TEST_COMPILED }
      : {},
    projects: [
      createProject({
        name: 'unit',
        include: ['packages/*/src/**/*.test.ts', 'docs/test/*.test.ts', 'scripts/test/*.test.ts'],
      }),
      createProject({ name: 'sandbox', include: [SANDBOX], exclude: [...SLOW, ...IN_CHROMIUM] }),
      createFlows('sqlite', SLOW),
      createProject({ name: 'slow', include: SLOW, database: 'sqlite', workers: 4 }),
      createFlows('postgres', SQLITE_IS_ENOUGH),
      ...(withMariadb ? [createFlows('mariadb', SQLITE_IS_ENOUGH)] : []),
      createProject({ name: 'chromium', include: IN_CHROMIUM, database: 'sqlite', workers: 3 }),
    ],
  },
})

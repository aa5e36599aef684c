import { fileURLToPath } from 'node:url'
import { defineConfig, type TestProjectConfiguration } from 'vitest/config'
import { findChromium } from './test-support/find-chromium.ts'
import { LongestFirst } from './test-support/longest-first.ts'
import { mutantPlugin } from './test-support/mutant-plugin.ts'
import { IN_CHROMIUM, SLOW, SQLITE_IS_ENOUGH } from './test-support/where-tests-run.ts'

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))

/** Tests import the sources, as one program. Only child processes use the built packages. */
const alias = [
  { find: /^@tollgate\/(\w+)$/, replacement: path('./packages/$1/src/index.ts') },
  { find: /^@tollgate\/(\w+)\/testing$/, replacement: path('./packages/$1/src/testing/index.ts') },
  {
    find: /^@tollgate\/(oauth|billing|gate)\/(\w+)$/,
    replacement: path('./packages/$1/src/adapters/$2.ts'),
  },
  {
    find: /^@tollgate\/http\/outgoing$/,
    replacement: path('./packages/http/src/outgoing/index.ts'),
  },
  { find: /^@tollgate\/http\/(\w+)$/, replacement: path('./packages/http/src/mount/$1.ts') },
]

/** Tests of whole flows: those of a package, and those in the folder of a feature of billing. */
const FLOWS = ['packages/*/test/**/*.test.ts', 'packages/*/src/features/*/test/**/*.test.ts']
const SANDBOX = 'packages/sandbox/test/**/*.test.ts'

let projects = 0

interface Project {
  readonly name: string
  readonly include: readonly string[]
  readonly exclude?: readonly string[]
  readonly database?: 'sqlite' | 'postgres' | 'mariadb'
  /**
   * Number of test files to run at once. The default suits two cores: a third process costs more to start than it saves.
   * Projects that wait for servers, leases or browsers use more.
   * @default 2
   */
  readonly workers?: number
}

/** Whether the command line sets the number of workers, which then takes precedence. */
const hasWorkersFlag = process.argv.some((argument) => /^--max-?workers\b/i.test(argument))

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
      setupFiles: [
        './test-support/restore-globals.ts',
        ...(database && process.env.TEST_STATEMENTS ? ['./test-support/statements/setup.ts'] : []),
      ],
      // Files share a process and their imports, because loading these takes longer than most tests.
      isolate: false,
      ...(hasWorkersFlag ? {} : { maxWorkers: workers }),
      // One project after the other, because a process serves only one.
      sequence: { groupOrder: projects++ },
      // Long enough for a busy machine.
      expect: { poll: { timeout: 60_000 } },
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

/** Creates the project of all tests that use SQL, on one database. */
function createFlows(name: 'sqlite' | 'postgres' | 'mariadb', exclude: readonly string[]) {
  const elsewhere = [SANDBOX, ...IN_CHROMIUM]
  return createProject({
    name,
    include: FLOWS,
    exclude: [...elsewhere, ...exclude],
    database: name,
    workers: name === 'sqlite' ? 3 : 4,
  })
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    // Seven projects import the same sources. With this shared folder a run of all compiles each file once.
    experimental: process.env.TEST_COMPILED
      ? { fsModuleCache: true, fsModuleCachePath: process.env.TEST_COMPILED }
      : {},
    projects: [
      createProject({
        name: 'unit',
        include: ['packages/*/src/**/*.test.ts', 'docs/test/*.test.ts', 'scripts/test/*.test.ts'],
        exclude: ['packages/*/src/features/*/test/**'],
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

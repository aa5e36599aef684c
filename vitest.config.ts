import { fileURLToPath } from 'node:url'
import { defineConfig, type TestProjectConfiguration } from 'vitest/config'
import { findChromium } from './test-support/find-chromium.ts'

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))

/** Tests run against the sources, as one program; only child processes use what was built. */
const alias = [
  { find: /^@tollgate\/(\w+)$/, replacement: path('./packages/$1/src/index.ts') },
  { find: /^@tollgate\/(\w+)\/testing$/, replacement: path('./packages/$1/src/testing/index.ts') },
  {
    find: /^@tollgate\/(oauth|billing)\/(\w+)$/,
    replacement: path('./packages/$1/src/adapters/$2.ts'),
  },
  { find: /^@tollgate\/http\/(\w+)$/, replacement: path('./packages/http/src/mount/$1.ts') },
]

/** Machines that run tests are busy: whoever waits for something waits long enough. */
const patient = { poll: { timeout: 20_000 } }

/** A person's way through the pages; one database is enough for it. */
const IN_CHROMIUM = 'packages/server/test/chromium/**/*.test.ts'

/** Every flow runs on every database; machines that run tests are noisy, so nothing here is hasty. */
function createFlows(kind: 'sqlite' | 'postgres' | 'mariadb'): TestProjectConfiguration {
  return {
    resolve: { alias },
    test: {
      name: kind,
      expect: patient,
      include: ['packages/*/test/**/*.test.ts'],
      exclude: ['packages/sandbox/**', IN_CHROMIUM],
      env: { TEST_DATABASE: kind },
      globalSetup: kind === 'postgres' ? ['./test-support/postgres-setup.ts'] : [],
      testTimeout: 30_000,
      hookTimeout: 60_000,
    },
  }
}

const withMariadb = Boolean(process.env.TEST_MYSQL_URL)
if (!withMariadb) {
  console.log('MariaDB is left out: set TEST_MYSQL_URL=mysql://root@127.0.0.1:3306, or use .ci/run')
}
if (findChromium() === null) {
  console.log(
    'Chromium is left out: install chromium, set CHROMIUM_PATH=/usr/bin/chromium, or use .ci/run',
  )
}

export default defineConfig({
  test: {
    maxWorkers: 2,
    projects: [
      {
        resolve: { alias },
        test: {
          name: 'unit',
          expect: patient,
          include: [
            'packages/*/src/**/*.test.ts',
            'examples/*/test/**/*.test.ts',
            'docs/test/*.test.ts',
            'scripts/test/*.test.ts',
          ],
          testTimeout: 30_000,
        },
      },
      {
        resolve: { alias },
        test: {
          name: 'sandbox',
          expect: patient,
          include: ['packages/sandbox/test/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        resolve: { alias },
        test: {
          name: 'chromium',
          expect: patient,
          include: [IN_CHROMIUM],
          env: { TEST_DATABASE: 'sqlite' },
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      createFlows('sqlite'),
      createFlows('postgres'),
      ...(withMariadb ? [createFlows('mariadb')] : []),
    ],
  },
})

import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** A folder or a file with tests, and why it is named here. */
type Named = readonly [path: string, because: string]

/**
 * Not in `npm test`: campaigns that take their time. They are the project `slow`, on SQLite, and `.ci/run`
 * runs them always. Those that are not named below run on Postgres and MariaDB, too.
 */
const slow: readonly Named[] = [
  ['examples', 'whole apps are started, and Next builds one'],
  ['packages/billing/test/frequency-swap-table.test.ts', 'a whole table'],
  ['packages/billing/test/histories.test.ts', 'hundreds of random lives'],
  ['packages/billing/test/killed.test.ts', 'a process is killed at each of its steps'],
  ['packages/billing/test/previews.test.ts', 'a whole table'],
  ['packages/billing/test/processes.test.ts', 'several processes'],
  ['packages/database/test/acknowledged.test.ts', 'processes are killed'],
  ['packages/database/test/durability.test.ts', 'processes are killed'],
  ['packages/database/test/outage.test.ts', 'waits for a database that is away'],
  ['packages/oauth/test/processes', 'several processes'],
  ['packages/oauth/test/threats/mutated-requests.test.ts', 'twenty thousand random requests'],
  ['packages/server/test/processes.test.ts', 'several processes'],
  ['packages/server/test/restart.test.ts', 'several processes'],
]

/**
 * On SQLite only. Everything else runs on Postgres and MariaDB as well, and so does a new test until it is
 * named here. What belongs here sends no statement that other tests do not send there.
 */
const sqliteIsEnough: readonly Named[] = [
  ['packages/billing/test/gateway-contract.test.ts', 'gateways, which know no database'],
  ['packages/billing/test/outside-provider', 'a gateway, over the flows of specification/'],
  ['packages/oauth/test/adapters', 'frameworks and guards: HTTP, over the flows of specification/'],
  ['packages/oauth/test/clients', 'OAuth clients of others, which see only HTTP'],
]

/** A person's way through the pages. */
const inChromium: readonly Named[] = [['packages/server/test/chromium', 'a browser']]

function toGlobs(named: readonly Named[]): string[] {
  return named.map(([path]) => {
    if (!existsSync(fileURLToPath(new URL(`../${path}`, import.meta.url)))) {
      throw new Error(`test-support/where-tests-run.ts names ${path}, which is not there`)
    }
    return path.endsWith('.test.ts') ? path : `${path}/**/*.test.ts`
  })
}

export const SLOW = toGlobs(slow)
export const SQLITE_IS_ENOUGH = toGlobs(sqliteIsEnough)
export const IN_CHROMIUM = toGlobs(inChromium)

import { type ConnectOptions, connect, type Database } from '@tollgate/database'
import { type CreatedDatabase, type DatabaseKind, databaseKinds } from './database-kinds.ts'

export interface TestDatabase {
  readonly url: string
  readonly database: Database
  /** Closes the connection and deletes the database. */
  drop(): Promise<void>
}

/**
 * Initial contents that many tests share, e.g. every table. It is created once per process and then
 * copied.
 */
export interface Template {
  readonly name: string
  fill(database: Database): Promise<unknown>
}

export interface TestDatabaseOptions extends ConnectOptions {
  readonly template?: Template
}

/**
 * Timeout in milliseconds for tests that are not about timeouts: the machine may be busy with all
 * other tests.
 */
const TIMEOUT = 10_000

/**
 * Creates a new database of the kind that this test project uses. Without a template it is empty.
 */
export async function createTestDatabase(options: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const { template, ...connecting } = options
  const kind = requireKind()
  const { url, remove } = template
    ? await kind.copy(await findTemplate(kind, template))
    : await kind.createEmpty()
  // npm test with TEST_SQL=1 prints every statement.
  const shown = process.env.TEST_SQL ? { onQuery: (sql: string) => console.log(sql) } : {}
  const database = await connect(url, { timeout: TIMEOUT, ...shown, ...connecting })
  return {
    url,
    database,
    async drop() {
      await database.close()
      await remove()
    },
  }
}

/** Creates an empty database without opening it. */
export function createEmptyDatabase(): Promise<CreatedDatabase> {
  return requireKind().createEmpty()
}

const made = new Map<string, Promise<CreatedDatabase>>()
const templates = new Set<string>()

/** Whether this URL is that of a template. */
export const isTemplate = (url: string): boolean => templates.has(url)

function findTemplate(kind: DatabaseKind, { name, fill }: Template): Promise<CreatedDatabase> {
  const found = made.get(name) ?? makeTemplate(kind, fill)
  made.set(name, found)
  return found
}

async function makeTemplate(kind: DatabaseKind, fill: Template['fill']): Promise<CreatedDatabase> {
  const created = await kind.createEmpty()
  templates.add(created.url)
  const database = await connect(created.url, { timeout: TIMEOUT })
  try {
    await fill(database)
  } finally {
    await database.close()
  }
  return created
}

function requireKind(): DatabaseKind {
  const kind = process.env.TEST_DATABASE
  if (kind === 'sqlite' || kind === 'postgres' || kind === 'mariadb') return databaseKinds[kind]
  throw new Error(`TEST_DATABASE is "${kind}"; expected sqlite, postgres or mariadb`)
}

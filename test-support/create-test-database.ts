import { type ConnectOptions, connect, type Database } from '@tollgate/database'
import { type Created, type DatabaseKind, databaseKinds } from './database-kinds.ts'

export interface TestDatabase {
  readonly url: string
  readonly database: Database
  /** Closes the connection and removes the database with all it holds. */
  drop(): Promise<void>
}

/** What many tests begin with, e.g. every table. It is made once in a process, and then copied. */
export interface Template {
  readonly name: string
  fill(database: Database): Promise<unknown>
}

export interface TestDatabaseOptions extends ConnectOptions {
  readonly template?: Template
}

/** A machine that is busy with all the other tests is slow, which no test is about; those about time say so. */
const PATIENCE = 10_000

/** A new database of the kind that this test project is for; without a template it is empty. */
export async function createTestDatabase(options: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const { template, ...connecting } = options
  const kind = requireKind()
  const { url, remove } = template
    ? await kind.copy(await findTemplate(kind, template))
    : await kind.createEmpty()
  // npm test with TEST_SQL=1 shows every statement.
  const shown = process.env.TEST_SQL ? { onQuery: (sql: string) => console.log(sql) } : {}
  const database = await connect(url, { timeout: PATIENCE, ...shown, ...connecting })
  return {
    url,
    database,
    async drop() {
      await database.close()
      await remove()
    },
  }
}

/** An empty one that nobody has opened. */
export function createEmptyDatabase(): Promise<Created> {
  return requireKind().createEmpty()
}

const made = new Map<string, Promise<Created>>()
const templates = new Set<string>()

/** Whether this is the address of a template. */
export const isTemplate = (url: string): boolean => templates.has(url)

function findTemplate(kind: DatabaseKind, { name, fill }: Template): Promise<Created> {
  const found = made.get(name) ?? makeTemplate(kind, fill)
  made.set(name, found)
  return found
}

async function makeTemplate(kind: DatabaseKind, fill: Template['fill']): Promise<Created> {
  const created = await kind.createEmpty()
  templates.add(created.url)
  const database = await connect(created.url, { timeout: PATIENCE })
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

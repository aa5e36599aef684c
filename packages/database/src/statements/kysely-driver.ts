import {
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  type QueryResult as KyselyResult,
} from 'kysely'
import type { SqlFlavour } from '../dialects/dialect.ts'
import type { Query, Runner } from '../dialects/engine.ts'

/** Creates a Kysely that compiles SQL in this flavour and runs it on `runner`. */
export function createKysely<T>(flavour: SqlFlavour, runner: Runner): Kysely<T> {
  return new Kysely<T>({ dialect: { ...flavour, createDriver: () => createDriver(runner) } })
}

export function convertCompiledQuery(compiled: CompiledQuery): Query {
  return { sql: compiled.sql, readOnly: compiled.query.kind === 'SelectQueryNode' }
}

/**
 * Rejects Kysely's own transactions: `database.transaction()` is the only way to open one, because
 * of its retries and timeouts.
 */
function createDriver(runner: Runner): Driver {
  const connection = createConnection(runner)
  const refuse = async () => {
    throw new Error("Use database.transaction(work) instead of Kysely's transactions")
  }
  return {
    init: async () => {},
    acquireConnection: async () => connection,
    beginTransaction: refuse,
    commitTransaction: refuse,
    rollbackTransaction: async () => {},
    releaseConnection: async () => {},
    destroy: async () => {},
  }
}

function createConnection(runner: Runner): DatabaseConnection {
  return {
    async executeQuery<R>(compiled: CompiledQuery): Promise<KyselyResult<R>> {
      const { rows, affected, insertId } = await runner.run(
        convertCompiledQuery(compiled),
        compiled.parameters,
      )
      return {
        rows: rows as R[],
        numAffectedRows: BigInt(affected),
        ...(insertId ? { insertId: BigInt(insertId) } : {}),
      }
    },
    // biome-ignore lint/correctness/useYield: Kysely asks for a generator
    async *streamQuery(): AsyncIterableIterator<never> {
      throw new Error('Streaming is not supported; page by key instead')
    },
  }
}

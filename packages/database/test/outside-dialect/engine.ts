import { type Engine, type EngineOptions, type Query, toStorables } from '@tollgate/database'
import pg from 'pg'

const BIGINT = 20

/** The smallest engine that works: a pool, one connection per transaction, and a row per lock. */
export async function openCockroach(url: string, options: EngineOptions): Promise<Engine> {
  const pool = new pg.Pool({
    connectionString: url.replace(/^cockroach:/, 'postgres:'),
    max: options.poolSize,
    connectionTimeoutMillis: options.timeout,
    types: {
      getTypeParser: (oid: number, format?: 'text' | 'binary') =>
        oid === BIGINT ? Number : pg.types.getTypeParser(oid, format as 'text'),
    },
  })
  // Without a listener, a connection that breaks while idle would end the process.
  pool.on('error', () => {})

  async function ask(on: pg.Pool | pg.PoolClient, query: Query, values: readonly unknown[]) {
    const { rows, rowCount, command } = await on.query(
      query.sql,
      toStorables(values, (date) => date.toISOString()),
    )
    return { rows, affected: command === 'SELECT' ? 0 : (rowCount ?? 0) }
  }

  await createLocks(pool).catch(async (error) => {
    await pool.end()
    throw error
  })

  return {
    exactText: 'collate "C"',
    run: (query, values) => ask(pool, query, values),
    async reserve() {
      const client = await pool.connect()
      return {
        run: (query, values) => ask(client, query, values),
        begin: async () => void (await client.query('begin isolation level read committed')),
        commit: async () => void (await client.query('commit')),
        rollback: async () => void (await client.query('rollback')),
        async lock(name, wait) {
          await client.query("select set_config('lock_timeout', $1, true)", [String(wait)])
          await client.query('insert into locks values ($1) on conflict do nothing', [name])
          await client.query('select name from locks where name = $1 for update', [name])
        },
        release: async (broken) => client.release(broken),
      }
    },
    close: () => pool.end(),
  }
}

/**
 * Creates the locks table. If several processes do this at the same time, Postgres rejects all but
 * one of them. The errors are harmless, because the table then exists.
 */
async function createLocks(pool: pg.Pool): Promise<void> {
  const create = () => pool.query('create table if not exists locks (name text primary key)')
  await create().catch(create)
}
